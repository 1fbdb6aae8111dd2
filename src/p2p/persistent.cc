#include "p2p/persistent.h"

#include "p2p/buffered.h"

namespace clump::p2p {

void keep(core::Request& request, const Address& address, const datatype::Layout& layout) {
  request.persistent = true;
  request.state = core::Request::State::kInactive;
  request.uses(address.comm, *layout.type);
}

core::Request::Sending sending(const Address& to, const datatype::Layout& from) {
  if (to.peer == MPI_PROC_NULL) return {};
  return {to.comm.peers().world_rank(to.peer), to.tag, from.bytes()};
}

void activate(core::Request& request) {
  request.state = core::Request::State::kActive;
  request.completion.reset();
  request.result = {};
}

PersistentSend::PersistentSend(const Address& to, const datatype::Layout& from, Mode mode)
    : to_(to), from_(from), mode_(mode) {
  keep(*this, to, from);
}

base::Status PersistentSend::start() {
  activate(*this);
  begin(to_, from_, mode_);
  return {};
}

PersistentBufferedSend::PersistentBufferedSend(const Address& to, const datatype::Layout& from)
    : to_(to), from_(from) {
  keep(*this, to, from);
}

base::Status PersistentBufferedSend::start() {
  CLUMP_TRY(buffered_send(to_, from_));
  activate(*this);
  complete();
  return {};
}

PersistentReceive::PersistentReceive(const Address& from, const datatype::Layout& to) : from_(from), to_(to) {
  keep(*this, from, to);
}

base::Status PersistentReceive::start() {
  activate(*this);
  begin(from_, to_);
  return {};
}

}  // namespace clump::p2p
