// The matcher of one rank: posted receives on one side, unexpected messages on the other (MPI-5.0
// sections 3.2.4 and 3.5).
//
// Any thread may call anything: senders deliver here, the rank's threads post. One short lock; bytes are
// copied outside of it, by whoever completes the match, from user buffer to user buffer where both are at
// hand.
#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "fiber/completion.h"
#include "net/channel.h"
#include "p2p/match_queue.h"
#include "p2p/p2p.h"

namespace clump::p2p {

/// A message that no receive has matched yet: a kept Outgoing, or (eager) a copy of its bytes behind this
/// struct.
struct Unexpected final : MatchEntry {
  net::Outgoing* kept = nullptr;
  Count bytes = 0;
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

class Matcher final : public net::Sink {
 public:
  ~Matcher() override;

  void arrive(net::Outgoing& message) override;
  bool retract(net::Outgoing& message) override;

  /// Matches `receive` with the oldest message that fits, or keeps it until one arrives.
  void post(ReceiveOperation& receive);
  /// Takes a posted receive back; false if it was matched.
  bool retract(ReceiveOperation& receive);

  struct Probed {
    int source, tag;
    Count bytes;
  };
  /// The oldest message that a receive with `key` would match; false if there is none.
  bool probe(const MatchKey& key, Probed& found);
  /// The same, and takes it out of the queue: receive_taken() must follow. Null if there is none.
  Unexpected* take(const MatchKey& key);
  /// Blocks until a message that fits `key` may have arrived.
  void wait_for_arrival(const MatchKey& key);
  /// Copies a message that was taken out into `receive` and completes both sides.
  void receive_taken(Unexpected* message, ReceiveOperation& receive);

 private:
  struct Prober {
    MatchKey key;
    fiber::Completion* arrived;
  };

  ReceiveOperation* take_posted(const net::Envelope& envelope);
  Unexpected* find_unexpected(const MatchKey& key) const;
  Unexpected* make_unexpected(const net::Envelope& envelope, Count copied_bytes);
  void dispose(Unexpected* message);
  void keep(Unexpected* message);

  base::AdaptiveMutex mutex_;
  std::uint64_t next_sequence_ = 0;
  MatchQueue<ReceiveOperation> exact_;      // posted receives that name source and tag
  MatchQueue<ReceiveOperation> wildcards_;  // the others
  MatchQueue<Unexpected> unexpected_;
  Count eager_bytes_ = 0;  // in copies that wait here
  std::vector<Prober> probers_;
  std::vector<Unexpected*> spare_;  // small ones, to be used again
};

/// The matcher of a rank of this host process.
Matcher& matcher_of(const core::Rank& rank);

}  // namespace clump::p2p
