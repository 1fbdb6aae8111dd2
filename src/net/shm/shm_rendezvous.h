// How the shm channel moves a message that another process of the node has announced.
#pragma once

#include <algorithm>
#include <memory>

#include "base/mutex.h"
#include "net/incoming_rendezvous.h"
#include "net/shm/wire.h"

namespace clump::net {

class ShmChannel;

/// How a message is divided that both sides move.
struct Division {
  /// From this size on it is worth it: below, two copies by way of a staging buffer take less than the
  /// kernel's one.
  static constexpr Count kFrom = 1024 * 1024;
  explicit Division(Count bytes);
  std::uint32_t parts;
  Count part;  ///< bytes of each but the last
  Count begin(int index) const { return index * part; }
  Count size(int index) const { return std::min(part, bytes - begin(index)); }
  Count bytes;
};

class ShmRendezvous final : public IncomingRendezvous {
 public:
  /// From port `there` to port `here`. A streamed one has no `original`: its sender's request may have ended,
  /// and another one may lie at that address, so the sender is never told of this message, nor may it ask for
  /// it back.
  ShmRendezvous(ShmChannel& channel, int here, int there, Envelope envelope, const RtsNote& rts);

  bool is_streamed() const { return streamed_; }
  /// The next bytes of what was asked for, or what follows.
  void take_piece(const std::byte* data, Count bytes);
  /// The sender does not answer: true if it will not any more, and fetch_by_reading() must follow. False:
  /// pieces come, and it may be gone at any time.
  bool claim();
  void fetch_by_reading();
  /// The sender has done its parts.
  void written(bool complete) { end_parts(kSender, complete); }

 private:
  void send_fin() override;
  void send_cancelled() override;
  void pull() override;
  void take_stream();
  bool fetch_together();
  enum Side : std::uint8_t { kReceiver = 1, kSender = 2 };
  void end_parts(Side side, bool complete);
  void keep(const std::byte* data, Count bytes);
  CtsNote cts() { return {original, this, wanted(), 0, nullptr}; }

  ShmChannel& channel_;
  const int here_, there_;
  const bool streamed_;
  const void* const address_;
  std::uint64_t ticket_ = 0;
  base::ShortMutex mutex_;  // of what follows: pieces may come while a receive is found
  bool fetching_ = false;
  Count arrived_ = 0;
  std::unique_ptr<std::byte[]> early_;  // what has come before there was a receive
  unsigned at_work_ = 0;                // sides that have parts
  bool all_right_ = true;               // so far
};

}  // namespace clump::net
