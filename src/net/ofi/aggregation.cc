// Aggregation: short messages to the same process that follow each other closely are sent as one.
#include <algorithm>
#include <cstring>

#include "net/ofi/endpoint_context.h"

namespace clump::net::ofi {

namespace {

constexpr std::size_t kMostAggregated = 16 * 1024;
// A message belongs to a burst if the send before it has ended less than kPause ago. The first kAlone
// messages of a burst are sent by themselves. So a message is delayed by aggregation only if a flood was to
// be expected.
constexpr std::chrono::microseconds kPause{2};
constexpr int kAlone = 4;

}  // namespace

/// Sends a message of up to kCopied bytes, or one that has to be packed.
bool EndpointContext::send_short(Peer& peer, int process, const wire::Address& address,
                                 const Content& content, Later& later) {
  if (content.bytes > kCopied) {
    if (!send_aggregate(peer, process, later)) return false;
  } else if (peer.aggregate != nullptr || is_burst(peer)) {
    return hold_back(peer, process, address, content, later);
  }
  const bool gone = send_lone(peer, process, address, content, later);
  if (gone && endpoint_->sends_by_system_calls()) peer.last_sent = Clock::now();
  return gone;
}

bool EndpointContext::is_burst(Peer& peer) const {
  if (!endpoint_->sends_by_system_calls()) return false;
  peer.in_a_row = Clock::now() - peer.last_sent < kPause ? peer.in_a_row + 1 : 0;
  return peer.in_a_row >= kAlone;
}

bool EndpointContext::hold_back(Peer& peer, int process, const wire::Address& address, const Content& content,
                                Later& later) {
  const auto bytes = static_cast<std::size_t>(content.bytes);
  const wire::MessageBody body{address, content.bytes};
  if (peer.aggregated + sizeof body + bytes > kMostAggregated && !send_aggregate(peer, process, later))
    return false;
  if (peer.aggregate == nullptr) {
    peer.aggregate = in_flight_pools_.copies.take(kMostCopies);
    if (peer.aggregate == nullptr) return false;
    peer.aggregated = sizeof(wire::Header);
    aggregating_.push_back(process);
    holds_back_.store(true, std::memory_order_relaxed);
    timer_.set();
  }
  std::byte* const to = peer.aggregate->data + peer.aggregated;
  std::memcpy(to, &body, sizeof body);
  if (bytes > 0) datatype::pack({to + sizeof body, bytes}, content.payload, 0);
  peer.aggregated += sizeof body + bytes;
  return true;
}

/// Sends the aggregate of a process, if there is one. Called before anything else is sent to that process.
bool EndpointContext::send_aggregate(Peer& peer, int process, Later& later) {
  if (peer.aggregate == nullptr) return true;
  Copy& copy = *peer.aggregate;
  const wire::Header head = header(peer, wire::Kind::kMessage);
  std::memcpy(copy.data, &head, sizeof head);
  copy.process = process;
  const bool injected = may_inject(peer.aggregated);
  const ssize_t result = injected ? endpoint_->inject(copy.data, peer.aggregated, peer.address)
                                  : endpoint_->send(copy.data, peer.aggregated, peer.address, copy);
  if (!sent(peer, process, result, later)) return false;
  if (injected || result != 0) in_flight_pools_.copies.put_back(copy);
  peer.aggregate = nullptr;
  peer.aggregated = 0;
  peer.last_sent = Clock::now();
  std::erase(aggregating_, process);
  holds_back_.store(!aggregating_.empty(), std::memory_order_relaxed);
  return true;
}

/// Sends all aggregates; true if any could be sent.
bool EndpointContext::send_aggregates(Later& later) {
  bool any = false;
  for (std::size_t i = aggregating_.size(); i-- > 0;) {
    const int process = aggregating_[i];
    any = send_aggregate(peer(process), process, later) || any;
  }
  return any;
}

}  // namespace clump::net::ofi
