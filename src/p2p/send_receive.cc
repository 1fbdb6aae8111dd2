#include "p2p/send_receive.h"

namespace clump::p2p {

namespace {

void keep(core::Request& operation, const datatype::Layout& layout) {
  if (!layout.type->is_predefined()) operation.type = datatype::Ref(layout.type);
}

}  // namespace

void SendReceive::begin(const Address& to, const datatype::Layout& out, const Address& from,
                        const datatype::Layout& in) {
  keep(outgoing_, out);
  keep(incoming_, in);
  incoming_.begin(from, in);
  outgoing_.begin(to, out);
}

void SendReceive::half_done() {
  // release: what this half has written; acquire: what the other half has written.
  if (halves_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  result = incoming_.result;
  if (result.error == MPI_SUCCESS) result.error = outgoing_.result.error;
  complete();
}

void SendReceive::before_wait(WaitsFor what) { outgoing_.before_wait(what); }

}  // namespace clump::p2p
