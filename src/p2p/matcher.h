// The matcher of one rank: posted receives on one side, unexpected messages on the other (MPI-5.0 sections
// 3.2.4 and 3.5).
//
// Any thread may call any function: senders deliver messages here, the rank's threads post receives. Matching
// never crosses communicators, so the matcher is made of parts, each for some contexts, with one short lock
// each: threads of a rank that use different communicators do not wait for each other. All but a few bytes
// are copied outside of the lock, by the thread that completes the match, and from user buffer to user buffer
// if both are at hand.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "core/rank.h"
#include "fiber/completion.h"
#include "net/channel.h"
#include "p2p/match_queue.h"
#include "p2p/p2p.h"

namespace clump::p2p {

/// A message that no receive has matched yet: a SendRequest that is kept, or (eager) a copy of the message's
/// bytes behind this struct.
struct Unexpected final : MatchEntry {
  explicit Unexpected(const MatchKey& envelope) { key = envelope; }
  net::SendRequest* kept = nullptr;
  Count bytes = 0;
  Unexpected* next_spare;  ///< while its memory waits to be used again
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

class Matcher final : public net::Sink {
 public:
  ~Matcher() override;

  bool take(net::Envelope envelope, Count bytes, const datatype::Layout& payload, Bound bound) override;
  /// The same, inline.
  bool take_now(net::Envelope envelope, Count bytes, const datatype::Layout& payload, Bound bound);
  bool arrive(net::SendRequest& message) override;
  void move(net::SendRequest& message) override;
  void fetched(net::SendRequest& message) override;
  bool retract(net::SendRequest& message) override;
  net::SendRequest* retract_remote(net::Envelope envelope, const net::SendRequest* original) override;

  /// Matches `receive` with the oldest message that fits, or keeps it until one arrives.
  void post(Receive& receive);
  /// Whether the part of `context` has neither a receive nor a message. Another thread may be about to add
  /// one that the caller does not know of.
  bool is_empty(std::uint32_t context) {
    const Part& part = part_of(context);
    return part.unexpected.size() == 0 && part.exact.size() == 0 && part.wildcards.empty();
  }
  /// Counts a message that the rank's only thread has received without the matcher.
  void count_in_passing(Count bytes) { in_passing_.add(bytes); }
  /// Removes a posted receive; false if it was matched.
  bool retract(Receive& receive);
  /// The same for a receive without wildcards, if the next message of its key would match it.
  bool retract_if_first(Receive& receive);

  struct Probed {
    int source, tag;
    Count bytes;
  };
  /// The oldest message that a receive with `key` would match; false if there is none.
  bool probe(const MatchKey& key, Probed& found);
  /// The same, and removes it: receive_taken() must follow. Null if there is none.
  Unexpected* withdraw(const MatchKey& key);
  /// Blocks until a message that matches `key` may have arrived.
  void wait_for_arrival(const MatchKey& key);
  /// Copies a message that withdraw() has returned into `receive` and completes both sides.
  void receive_taken(Unexpected* message, Receive& receive);

  // For tools. Any thread.

  /// How much waits here.
  struct Lengths {
    Count posted = 0;            ///< receives
    Count unexpected = 0;        ///< messages
    Count unexpected_bytes = 0;  ///< of these messages, wherever they lie
  };
  Lengths lengths();
  /// The same for one context.
  Lengths lengths(std::uint32_t context);
  /// How much has arrived here so far.
  struct Arrived {
    std::uint64_t expected = 0, expected_bytes = 0;  ///< a receive was posted before the message arrived
    std::uint64_t unexpected = 0, unexpected_bytes = 0;
  };
  Arrived arrived() const;
  /// Is called for each receive, each message and each probe that waits here, with locks held.
  struct Visitor {
    virtual void posted(const Receive& receive) = 0;
    virtual void unexpected(const Unexpected& message) = 0;
    virtual void probed(const MatchKey& key, const fiber::Completion& arrived) = 0;

   protected:
    ~Visitor() = default;
  };
  void visit(Visitor& visitor);
  /// From now on `observer` is told of unexpected messages; null: no observer. The former one is not called
  /// again after this returns.
  void watch(core::ToolObserver* observer);
  /// The most memory that copied messages may take here while they wait, with all that belongs to them, in
  /// bytes. If it is exceeded, senders wait.
  Count bound() const { return bound_.load(std::memory_order_relaxed); }
  void set_bound(Count bytes) { bound_.store(bytes, std::memory_order_relaxed); }

 private:
  struct Prober {
    MatchKey key;
    fiber::Completion* arrived;
  };

  /// The receives and messages of some of the contexts.
  struct alignas(64) Part {
    base::ShortMutex mutex;
    std::uint32_t spare_count = 0;
    std::uint64_t next_sequence = 0;
    MatchTable<Receive> exact;     // posted receives that name source and tag
    MatchList<Receive> wildcards;  // the other posted receives
    MatchQueue<Unexpected> unexpected;
    Unexpected* spare = nullptr;  // of small messages, to be used again
    Count not_counted = 0;        // not yet added to memory_
    net::Volume expected, came_early;
    core::ToolObserver* observer = nullptr;
    std::vector<Prober> probers;

    Receive* take_posted(const MatchKey& key);
    /// Sets `message.match` if a receive was posted for it.
    bool match(net::SendRequest& message);
    Receive* take_oldest_posted(MatchKey key);
    void add(Receive& receive);
    Unexpected* find_unexpected(const MatchKey& key) const;
    Unexpected* find_any_unexpected(const MatchKey& key) const;
    Unexpected* draw_unexpected(const MatchKey& key) const;
    void keep(Unexpected& message);
    void announce(const Unexpected& message);
    void take_out(Unexpected& message);
    template <typename Wanted>
    void add_lengths(Lengths& sum, Wanted wanted) const;
  };

  static constexpr Count kBound = 16 * 1024 * 1024;
  /// The two contexts of a communicator are in one part, and the first few communicators of a rank are in
  /// different parts.
  static constexpr std::size_t kParts = 8;
  // The contexts that one of several processes makes differ by multiples of twice the number of processes.
  Part& part_of(std::uint32_t context) { return parts_[(context / 2 + context / 32) % kParts]; }

  template <typename Wanted>
  net::SendRequest* retract_kept(net::Envelope envelope, Wanted wanted);
  // The part is locked when these begin, and unlocked when they end. The usual paths call functions only at
  // their ends, so that they need no registers which they would have to save.
  bool take_locked(Part& part, net::Envelope envelope, Count bytes, const datatype::Layout& payload,
                   Bound bound);
  bool take_among_wildcards(Part& part, net::Envelope envelope, Count bytes, const datatype::Layout& payload,
                            Bound bound);
  void post_locked(Part& part, Receive& receive);
  void add_and_unlock(Part& part, Receive& receive);
  bool take_unexpected(Part& part, net::Envelope envelope, Count bytes, const datatype::Layout& payload,
                       Bound bound);
  void look_and_post(Part& part, Receive& receive);
  // The same, but the part is not locked yet, because another thread has the lock.
  bool wait_and_take(Part& part, net::Envelope envelope, Count bytes, const datatype::Layout& payload,
                     Bound bound);
  void wait_and_post(Part& part, Receive& receive);

  Unexpected* make_unexpected(Part& part, net::Envelope envelope, Count copied_bytes);
  void dispose(Part& part, Unexpected* message);
  void count(Part& part, Count memory);
  void tell_memory(Part& part);

  // The approximate memory of copied messages that wait here: parts add to it in steps.
  std::atomic<Count> memory_{0};
  std::atomic<Count> bound_{kBound};  // relaxed: no other data depend on it
  std::array<Part, kParts> parts_;
  net::Volume in_passing_;  // not on the cache line that senders read
};

/// The matcher of a rank of this host process.
inline Matcher& matcher_of(const core::Rank& rank) { return static_cast<Matcher&>(*rank.inbox); }

}  // namespace clump::p2p
