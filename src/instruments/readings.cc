#include "instruments/readings.h"

#include <algorithm>

#include "core/accesses.h"
#include "fiber/fiber.h"
#include "fiber/meters.h"
#include "net/link/link_channel.h"
#include "p2p/matcher.h"

namespace clump::instruments {

namespace {

std::uint64_t of_queues(const core::Rank& rank, const Meter& meter, std::uint32_t context) {
  p2p::Matcher& matcher = p2p::matcher_of(rank);
  const p2p::Matcher::Lengths lengths = meter.of_comm ? matcher.lengths(context) : matcher.lengths();
  const Count value = meter.reading == Reading::kPosted       ? lengths.posted
                      : meter.reading == Reading::kUnexpected ? lengths.unexpected
                                                              : lengths.unexpected_bytes;
  return static_cast<std::uint64_t>(value);
}

/// Calls visit(channel) for each, the one to other jobs as well.
template <typename Visit>
void for_each_channel(const core::World& world, Visit visit) {
  for (const auto& channel : world.channels) visit(*channel);
  if (world.link != nullptr) visit(*world.link);
}

/// Sums over all channels.
std::uint64_t of_traffic(const core::Rank& rank, const Meter& meter) {
  std::uint64_t sum = 0;
  for_each_channel(rank.world, [&](const net::Channel& channel) {
    const net::Traffic& traffic = channel.traffic(rank.number);
    const net::Volume& sent = traffic[static_cast<net::Way>(meter.which)];
    sum += meter.reading == Reading::kSent        ? sent.messages.value()
           : meter.reading == Reading::kSentBytes ? sent.bytes.value()
                                                  : traffic.refused.value();
  });
  return sum;
}

std::uint64_t of_channel(const core::Rank& rank, const Meter& meter) {
  std::uint64_t sum = 0;
  for_each_channel(rank.world, [&](const net::Channel& channel) {
    if (static_cast<int>(channel.kind()) != meter.which) return;
    for (const net::Volume& sent : channel.traffic(rank.number).ways)
      sum += meter.reading == Reading::kSentBy ? sent.messages.value() : sent.bytes.value();
  });
  return sum;
}

std::uint64_t of_arrivals(const core::Rank& rank, const Meter& meter) {
  const p2p::Matcher::Arrived arrived = p2p::matcher_of(rank).arrived();
  if (meter.reading == Reading::kReceived) return meter.which == 0 ? arrived.expected : arrived.unexpected;
  return meter.which == 0 ? arrived.expected_bytes : arrived.unexpected_bytes;
}

/// Writes a member of each worker's counts.
template <typename Value>
void of_workers(Value fiber::WorkerMeters::*member, std::uint64_t* values) {
  for (int worker = 0; worker < fiber::worker_count(); ++worker)
    values[worker] = fiber::meters_of(worker).*member;
}

/// Writes a member of the process's counts.
void of_process(std::uint64_t fiber::ProcessMeters::*member, std::uint64_t* value) {
  *value = fiber::process_meters().*member;
}

void of_peers(const core::World& world, const core::Group& peers, std::uint64_t* values) {
  for (int peer = 0; peer < peers.size(); ++peer) {
    const net::Channel& channel = *world.routes[static_cast<std::size_t>(peers.world_rank(peer))];
    values[peer] = static_cast<std::uint64_t>(channel.kind());
  }
}

}  // namespace

int values_of(const Meter& meter, const Bound& bound) {
  if (meter.per_peer) return bound.peers->size();
  return meter.per_worker ? std::max(1, fiber::worker_count()) : 1;
}

void read(const core::Rank& rank, const Meter& meter, const Bound& bound, std::uint64_t* values) {
  const auto which = static_cast<std::size_t>(meter.which);
  *values = 0;
  switch (meter.reading) {
    case Reading::kPosted:
    case Reading::kUnexpected:
    case Reading::kUnexpectedBytes:
      *values = of_queues(rank, meter, bound.context);
      return;
    case Reading::kCrowded:
      *values = rank.inbox->crowded() ? 1 : 0;
      return;
    case Reading::kSent:
    case Reading::kSentBytes:
    case Reading::kRefused:
      *values = of_traffic(rank, meter);
      return;
    case Reading::kSentBy:
    case Reading::kSentByBytes:
      *values = of_channel(rank, meter);
      return;
    case Reading::kReceived:
    case Reading::kReceivedBytes:
      *values = of_arrivals(rank, meter);
      return;
    case Reading::kCollective:
      *values = rank.collectives.begun[which].value();
      return;
    case Reading::kAlgorithm:
      *values = rank.collectives.used[which].value();
      return;
    case Reading::kSwitches:
      return of_workers(&fiber::WorkerMeters::switches, values);
    case Reading::kTaken:
      return of_workers(&fiber::WorkerMeters::taken, values);
    case Reading::kRunnable:
      return of_workers(&fiber::WorkerMeters::runnable, values);
    case Reading::kWorkerState:
      return of_workers(&fiber::WorkerMeters::asleep, values);
    case Reading::kWorkers:
      *values = static_cast<std::uint64_t>(fiber::worker_count());
      return;
    case Reading::kWorkerThreads:
      return of_process(&fiber::ProcessMeters::worker_threads, values);
    case Reading::kStuck:
      return of_process(&fiber::ProcessMeters::stuck, values);
    case Reading::kPartsOffered:
      return of_process(&fiber::ProcessMeters::parts_offered, values);
    case Reading::kPartsHelped:
      return of_process(&fiber::ProcessMeters::parts_helped, values);
    case Reading::kRankTaken:
    case Reading::kRankStuck: {
      const fiber::Identity& identity = *fiber::identity();  // tools look at their own rank
      *values = (meter.reading == Reading::kRankTaken ? identity.taken : identity.stuck).value();
      return;
    }
    case Reading::kHandles:
      *values = rank.live(static_cast<core::Rank::Handles>(meter.which));
      return;
    case Reading::kAccess:
      *values = core::access_counters_of(rank).calls[which].value();
      return;
    case Reading::kAccessBytes:
      *values = core::access_counters_of(rank).bytes[which].value();
      return;
    case Reading::kLockWaits:
      *values = core::access_counters_of(rank).lock_waits.value();
      return;
    case Reading::kChannel:
      of_peers(rank.world, *bound.peers, values);
      return;
    case Reading::kMostUnexpected:  // a EventDispatcher's
      return;
  }
}

}  // namespace clump::instruments
