#include "p2p/p2p.h"

#include "core/rank.h"
#include "p2p/matcher.h"

namespace clump::p2p {

namespace {

net::Route route_of(const Address& to) { return {to.comm.owner.number, to.comm.peers().world_rank(to.peer)}; }

net::Envelope envelope_of(const Address& to, Count bytes, Mode mode) {
  const MatchKey key = to.key();
  return {key.context, to.comm.rank, key.tag, mode == Mode::kSynchronous, bytes};
}

}  // namespace

bool try_send(const Address& to, const datatype::Layout& from) {
  if (to.peer == MPI_PROC_NULL) [[unlikely]]
    return true;
  const Count bytes = from.bytes();
  if (bytes > net::kEagerLimit) return false;
  const net::Route route = route_of(to);
  net::Channel& channel = *to.comm.owner.world.routes[route.destination];
  return channel.try_send(route, envelope_of(to, bytes, Mode::kStandard), from);
}

void poll(const core::Rank& rank) {
  for (const auto& channel : rank.world.channels) channel->poll(rank.number);
}

void SendOperation::begin(const Address& to, const datatype::Layout& from, Mode mode) {
  if (mode != Mode::kSynchronous && try_send(to, from)) return complete();
  begin_untaken(to, from, mode);
}

void SendOperation::begin_untaken(const Address& to, const datatype::Layout& from, Mode mode) {
  if (to.peer == MPI_PROC_NULL) return complete();
  envelope = envelope_of(to, from.bytes(), mode);
  payload = from;
  route_ = route_of(to);
  to.comm.owner.world.routes[route_.destination]->send(route_, *this);
}

// The message may lie where only those who work for the destination look, and they may be busy with something
// else for long. They are given the time that it takes when they are not; then the sender sees to it himself:
// a receive that is posted is served, a small message is put where it can wait.
void SendOperation::before_wait() {
  constexpr int kPolls = 50;
  if (route_.destination == MPI_PROC_NULL) return;
  net::Channel& channel = *core::current_rank()->world.routes[route_.destination];
  for (int i = 0; i < kPolls && !completion.done(); ++i) channel.poll(route_.source);
  if (!completion.done()) channel.poll(route_.destination);
}

base::Status SendOperation::cancel() {
  if (route_.destination == MPI_PROC_NULL || completion.done()) return {};
  const core::World& world = core::current_rank()->world;
  if (world.routes[route_.destination]->retract(route_, *this)) {
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
  if (owner_ == nullptr) return {};
  poll(*owner_);  // its message may have been sent long ago
  if (matcher_of(*owner_).retract(*this)) {
    result.cancelled = true;
    complete();
  }
  return {};
}

base::Status send(const Address& to, const datatype::Layout& from, Mode mode) {
  if (mode != Mode::kSynchronous && try_send(to, from)) return {};
  SendOperation operation;
  operation.begin_untaken(to, from, mode);
  operation.wait();
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
  const base::Status sent = send(to, out);
  incoming.completion.wait();
  if (result != nullptr) *result = incoming.result;
  CLUMP_TRY(sent);
  return base::Status::from_code(incoming.result.error);
}

}  // namespace clump::p2p
