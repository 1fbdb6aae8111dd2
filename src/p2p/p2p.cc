#include "p2p/p2p.h"

#include <algorithm>

#include "core/rank.h"
#include "fiber/own_worker.h"
#include "fiber/polling.h"
#include "fiber/rank_callbacks.h"
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

namespace {

enum class Came : std::uint8_t { kNothing, kAnother, kIt };

/// Polls for a short time. If the next message in the source's lane has this key, and is_next() confirms that
/// it is the one that is waited for, receives it without the matcher. If it is another one, or it cannot be
/// received in this way, does nothing.
//
// The order of messages is kept: a message that the same sender has sent earlier in another way was in the
// matcher before this one was in the lane, and no other thread posts receives of this rank.
template <typename IsNext>
Came receive_from_lane(const core::Rank& rank, int source, const MatchKey& key, const datatype::Layout& to,
                       core::Result& result, IsNext is_next) {
  constexpr int kPolls = 200;  // less than a microsecond
  constexpr int kPollsPerLook = 8;
  const fiber::Fiber* const self = fiber::this_fiber();
  const net::Route route{source, rank.number};
  net::SelfChannel& channel = *rank.world.self;
  net::Lane* const lane =
      &channel_to(rank.world, {rank.number, source}) == &channel ? channel.lane(route) : nullptr;
  if (lane == nullptr || self == nullptr || !rank.is_alone() || fiber::RankCallbacks::waits_in_other_ways())
    return Came::kNothing;
  for (int poll = 0; poll < kPolls; ++poll) {
    if (poll % kPollsPerLook == 0 && !fiber::may_poll(*self)) return Came::kNothing;
    if (!lane->ready()) continue;
    const net::Envelope envelope{key.context, key.source, key.tag};
    const Count bytes = channel.take_next(*lane, rank.number, envelope, to, is_next);
    if (bytes < 0) return Came::kAnother;
    matcher_of(rank).count_in_passing(bytes);
    result = {.source = key.source, .tag = key.tag, .bytes = bytes};
    return Came::kIt;
  }
  return Came::kNothing;
}

bool is_simple(const MatchKey& key, const datatype::Layout& to) {
  return key.source >= 0 && key.tag != MPI_ANY_TAG && to.type != nullptr && to.type->is_dense();
}

}  // namespace

base::Status receive_alone(Address from, const datatype::Layout& to, core::Operation& operation) {
  const core::Rank& rank = from.comm.owner;
  const MatchKey key = from.key();
  Matcher& matcher = matcher_of(rank);
  const auto is_next = [&] { return matcher.is_empty(key.context); };
  if (is_simple(key, to) && is_next() &&
      receive_from_lane(rank, from.comm.peers().world_rank(from.peer), key, to, operation.result, is_next) ==
          Came::kIt)
    return {};
  Receive incoming(operation, key, to);
  post_and_wait(rank, incoming);
  return base::Status::from_code(operation.result.error);
}

void ReceiveOperation::before_wait(WaitsFor what) {
  if (what != WaitsFor::kThis || owner_ == nullptr ||
      !owner_->has_own_worker.load(std::memory_order_relaxed) || !is_simple(key, buffer))
    return;
  const auto is_next = [this] { return matcher_of(*owner_).retract_if_first(*this); };
  const int source = awaited();
  while (source >= 0 && !completion.done()) {
    const Came came = receive_from_lane(*owner_, source, key, buffer, result, is_next);
    if (came == Came::kIt) return completion.end_here();
    if (came == Came::kNothing) return;
    owner_->world.self->poll(owner_->number);
  }
}

void poll(core::Rank& rank) {
  fiber::look_begins();
  for (const auto& channel : rank.world.channels) channel->poll(rank.number);
  rank.callbacks.run();
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
  may_be_copied = mode != Mode::kSynchronous && limit >= net::kEagerLimit;
  channel.send(route_, *this);
}

// The message may lie where only threads that work for the destination look, and they may be busy with
// something else for long. The sender first waits for as long as they need when they are not busy. After that
// it does their work itself: a posted receive is served, and a small message is copied to where it can wait.
void SendOperation::before_wait(WaitsFor /*what*/) {
  constexpr int kPolls = 50;
  if (route_.destination == MPI_PROC_NULL) return;
  net::Channel& channel = channel_to(core::current_rank()->world, route_);
  for (int i = 0; i < kPolls && !completion.done(); ++i) channel.poll(route_.source);
  if (!completion.done()) channel.poll(route_.destination);
}

base::Status SendOperation::cancel() {
  if (route_.destination == MPI_PROC_NULL || completion.done()) return {};
  const core::World& world = core::current_rank()->world;
  if (channel_to(world, route_).retract(route_, *this)) cancelled();
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

void SendOperation::cancelled() {
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
  poll(*owner_);  // the message may have been sent long ago
  if (matcher_of(*owner_).retract(*this)) {
    result = {};
    result.cancelled = true;
    complete();
  }
  return {};
}

base::Status send_receive(const Address& to, const datatype::Layout& out, const Address& from,
                          const datatype::Layout& in, core::Result* result) {
  const bool tries = from.comm.owner.has_own_worker.load(std::memory_order_relaxed);
  if (tries && try_send(to, out)) {
    core::Operation operation;
    const base::Status received = receive(from, in, operation);
    if (result != nullptr) *result = operation.result;
    return received;
  }
  ReceiveOperation incoming;
  incoming.begin(from, in);
  const base::Status sent = tries ? send_and_wait(to.apart(), out, Mode::kStandard) : send(to, out);
  incoming.completion.wait();
  if (result != nullptr) *result = incoming.result;
  CLUMP_TRY(sent);
  return base::Status::from_code(incoming.result.error);
}

}  // namespace clump::p2p
