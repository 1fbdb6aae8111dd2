// Short messages that follow each other closely to the same process, and go together.
#include <algorithm>
#include <cstring>

#include "net/ofi/gate.h"

namespace clump::net::ofi {

namespace {

constexpr std::size_t kMostBundled = 16 * 1024;
// What comes so soon after the end of the send before it belongs to the same burst; of a burst so many go by
// themselves. So a message is never late for having been held back, unless a flood was to be expected.
constexpr std::chrono::microseconds kPause{2};
constexpr int kAlone = 4;

}  // namespace

/// Up to kCopied bytes, or what has to be packed.
bool Gate::send_short(Peer& peer, int process, const wire::Address& address, const Content& content,
                      Later& later) {
  if (content.bytes > kCopied) {
    if (!send_bundle(peer, process, later)) return false;
  } else if (peer.bundle != nullptr || is_burst(peer)) {
    return hold_back(peer, process, address, content, later);
  }
  const bool gone = send_lone(peer, process, address, content, later);
  if (gone && endpoint_->sends_by_system_calls()) peer.last_sent = Clock::now();
  return gone;
}

bool Gate::is_burst(Peer& peer) const {
  if (!endpoint_->sends_by_system_calls()) return false;
  peer.in_a_row = Clock::now() - peer.last_sent < kPause ? peer.in_a_row + 1 : 0;
  return peer.in_a_row >= kAlone;
}

bool Gate::hold_back(Peer& peer, int process, const wire::Address& address, const Content& content,
                     Later& later) {
  const auto bytes = static_cast<std::size_t>(content.bytes);
  const wire::MessageBody body{address, content.bytes};
  if (peer.bundled + sizeof body + bytes > kMostBundled && !send_bundle(peer, process, later)) return false;
  if (peer.bundle == nullptr) {
    peer.bundle = flights_.copies.take(kMostCopies);
    if (peer.bundle == nullptr) return false;
    peer.bundled = sizeof(wire::Header);
    bundling_.push_back(process);
    holds_back_.store(true, std::memory_order_relaxed);
    timer_.set();
  }
  std::byte* const to = peer.bundle->data + peer.bundled;
  std::memcpy(to, &body, sizeof body);
  if (bytes > 0) datatype::pack({to + sizeof body, bytes}, content.payload, 0);
  peer.bundled += sizeof body + bytes;
  return true;
}

/// What is held back for a process, if anything is. Before whatever else is sent to it.
bool Gate::send_bundle(Peer& peer, int process, Later& later) {
  if (peer.bundle == nullptr) return true;
  Copy& copy = *peer.bundle;
  const wire::Header head = header(peer, wire::Kind::kMessage);
  std::memcpy(copy.data, &head, sizeof head);
  copy.process = process;
  const bool injected = may_inject(peer.bundled);
  const ssize_t result = injected ? endpoint_->inject(copy.data, peer.bundled, peer.address)
                                  : endpoint_->send(copy.data, peer.bundled, peer.address, copy);
  if (!sent(peer, process, result, later)) return false;
  if (injected || result != 0) flights_.copies.put_back(copy);
  peer.bundle = nullptr;
  peer.bundled = 0;
  peer.last_sent = Clock::now();
  std::erase(bundling_, process);
  holds_back_.store(!bundling_.empty(), std::memory_order_relaxed);
  return true;
}

/// True if any could be sent.
bool Gate::send_bundles(Later& later) {
  bool any = false;
  for (std::size_t i = bundling_.size(); i-- > 0;) {
    const int process = bundling_[i];
    any = send_bundle(peer(process), process, later) || any;
  }
  return any;
}

}  // namespace clump::net::ofi
