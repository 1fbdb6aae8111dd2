// How the shm channel moves a message that another process of the node has announced.
#pragma once

#include <memory>

#include "base/mutex.h"
#include "net/incoming_rendezvous.h"
#include "net/shm/wire.h"

namespace clump::net {

class ShmChannel;

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

 private:
  void send_fin() override;
  void send_cancelled() override;
  void pull() override;
  void take_stream();
  void keep(const std::byte* data, Count bytes);
  CtsNote cts() { return {original, this, wanted(), 0}; }

  ShmChannel& channel_;
  const int here_, there_;
  const bool streamed_;
  const void* const address_;
  std::uint64_t ticket_ = 0;
  base::ShortMutex mutex_;  // of what follows: pieces may come while a receive is found
  bool fetching_ = false;
  Count arrived_ = 0;
  std::unique_ptr<std::byte[]> early_;  // what has come before there was a receive
};

}  // namespace clump::net
