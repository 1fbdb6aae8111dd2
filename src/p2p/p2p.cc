#include "p2p/p2p.h"

#include "core/rank.h"
#include "p2p/matcher.h"

namespace clump::p2p {

void SendOperation::begin(const Address& to, const datatype::Layout& from, Mode mode) {
  if (to.peer == MPI_PROC_NULL) return complete();
  const core::World& world = to.comm.owner.world;
  const MatchKey key = to.key();
  envelope = {key.context, to.comm.rank, key.tag, mode == Mode::kSynchronous, from.bytes()};
  payload = from;
  destination_ = to.comm.peers().world_rank(to.peer);
  world.routes[destination_]->send(destination_, *this);
}

base::Status SendOperation::cancel() {
  if (destination_ == MPI_PROC_NULL || completion.done()) return {};
  const core::World& world = core::current_rank()->world;
  if (world.routes[destination_]->retract(destination_, *this)) {
    result.cancelled = true;
    complete();
  }
  return {};
}

void ReceiveOperation::begin(const Address& from, const datatype::Layout& to) {
  if (from.peer == MPI_PROC_NULL) {  // MPI-5.0 section 3.10
    result.source = MPI_PROC_NULL;
    return complete();
  }
  key = from.key();
  buffer = to;
  owner_ = &from.comm.owner;
  matcher_of(*owner_).post(*this);
}

base::Status ReceiveOperation::cancel() {
  if (owner_ != nullptr && matcher_of(*owner_).retract(*this)) {
    result.cancelled = true;
    complete();
  }
  return {};
}

base::Status send(const Address& to, const datatype::Layout& from, Mode mode) {
  SendOperation operation;
  operation.begin(to, from, mode);
  operation.completion.wait();
  return base::Status::from_code(operation.result.error);
}

base::Status receive(const Address& from, const datatype::Layout& to, core::Result* result) {
  ReceiveOperation operation;
  operation.begin(from, to);
  operation.completion.wait();
  if (result != nullptr) *result = operation.result;
  return base::Status::from_code(operation.result.error);
}

base::Status send_receive(const Address& to, const datatype::Layout& out, const Address& from,
                          const datatype::Layout& in, core::Result* result) {
  ReceiveOperation incoming;
  incoming.begin(from, in);
  SendOperation outgoing;
  outgoing.begin(to, out);
  outgoing.completion.wait();
  incoming.completion.wait();
  if (result != nullptr) *result = incoming.result;
  CLUMP_TRY(base::Status::from_code(outgoing.result.error));
  return base::Status::from_code(incoming.result.error);
}

}  // namespace clump::p2p
