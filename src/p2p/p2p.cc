#include "p2p/p2p.h"

#include <algorithm>

#include "core/rank.h"
#include "fiber/fiber.h"
#include "p2p/matcher.h"

namespace clump::p2p {

base::Status send_and_wait(Address to, const datatype::Layout& from, Mode mode) {
  SendOperation operation;
  operation.begin_untaken(to, from, mode);
  const core::Waiting told(operation);
  operation.wait();
  return base::Status::from_code(operation.result.error);
}

void post(const core::Rank& rank, Receive& receive) { matcher_of(rank).post(receive); }

void poll(core::Rank& rank) {
  for (const auto& channel : rank.world.channels) channel->poll(rank.number);
  rank.errands.run();
}

void SendOperation::begin(const Address& to, const datatype::Layout& from, Mode mode) {
  if (mode != Mode::kSynchronous && try_send(to, from)) return complete();
  begin_untaken(to, from, mode);
}

void SendOperation::begin_untaken(const Address& to, const datatype::Layout& from, Mode mode) {
  if (to.peer == MPI_PROC_NULL) return complete();
  envelope = {to.key().context, to.comm.rank, to.tag};
  bytes = from.bytes();
  payload = from;
  route_ = route_of(to);
  net::Channel& channel = channel_to(to.comm.owner.world, route_);
  const Count limit = to.comm.owner.eager_limit.load(std::memory_order_relaxed);
  synchronous = mode == Mode::kSynchronous || bytes > std::max(limit, channel.least_eager());
  channel.send(route_, *this);
}

// The message may lie where only those who work for the destination look, and they may be busy with something
// else for long. They are given the time that it takes when they are not; then the sender sees to it himself:
// a receive that is posted is served, a small message is put where it can wait.
void SendOperation::before_wait() {
  constexpr int kPolls = 50;
  if (route_.destination == MPI_PROC_NULL) return;
  net::Channel& channel = channel_to(core::current_rank()->world, route_);
  for (int i = 0; i < kPolls && !completion.done(); ++i) channel.poll(route_.source);
  if (!completion.done()) channel.poll(route_.destination);
}

base::Status SendOperation::cancel() {
  if (route_.destination == MPI_PROC_NULL || completion.done()) return {};
  const core::World& world = core::current_rank()->world;
  if (channel_to(world, route_).retract(route_, *this)) withdrawn();
  return {};
}

void SendOperation::tell(std::vector<core::Awaited>& all) const {
  all.push_back({.kind = core::Awaited::Kind::kSend,
                 .context = envelope.context(),
                 .world_peer = route_.destination,
                 .tag = envelope.tag(),
                 .bytes = bytes});
}

void ReceiveOperation::tell(std::vector<core::Awaited>& all) const {
  all.push_back({.kind = core::Awaited::Kind::kReceive,
                 .context = key.context,
                 .peer = key.source,
                 .tag = key.tag,
                 .bytes = buffer.bytes()});
}

void SendOperation::withdrawn() {
  result.cancelled = true;
  complete();
}

int ReceiveOperation::awaited() const {
  return comm && key.source >= 0 ? comm->peers().world_rank(key.source) : MPI_ANY_SOURCE;
}

// MPI-5.0 section 3.10
void ReceiveOperation::begin_with_nobody() {
  receive_from_nobody(result);
  complete();
}

void receive_from_nobody(core::Result& result) {
  result = {};
  result.source = MPI_PROC_NULL;
}

base::Status ReceiveOperation::cancel() {
  if (owner_ == nullptr) return {};
  poll(*owner_);  // its message may have been sent long ago
  if (matcher_of(*owner_).retract(*this)) {
    result = {};
    result.cancelled = true;
    complete();
  }
  return {};
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
