// Data that the ranks of a collective share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "coll/shared/shared_collective.h"
#include "fiber/completion.h"

namespace clump::coll {

class TeamRequest;

/// The part of a call that must be the same on all ranks, in one word.
class PackedSignature {
 public:
  constexpr PackedSignature() = default;
  /// Of a call by an algorithm. `mismatched`: the caller's own two buffers have blocks of different sizes.
  /// `broadcasts` went before without synchronising (shared/bcast_ring.cc); the last digits are enough. What
  /// comes first is in the order of Call, so that it is read at once.
  PackedSignature(const Call& call, Algorithm algorithm, bool mismatched, std::uint64_t broadcasts)
      : bits_(static_cast<std::uint64_t>(call.collective) | static_cast<std::uint64_t>(call.caller) << 8 |
              static_cast<std::uint64_t>(call.in_place) << 16 |
              static_cast<std::uint64_t>(call.exclusive) << 24 |
              static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32 |
              static_cast<std::uint64_t>(mismatched) << 17 | static_cast<std::uint64_t>(algorithm) << 18 |
              (broadcasts & kSomeBroadcasts) << 25) {}
  /// Of a call with blocks that may differ in size: not all ranks need to work in place.
  static PackedSignature of_blocks(const Call& call, Algorithm algorithm, std::uint64_t broadcasts) {
    PackedSignature signature(call, algorithm, false, broadcasts);
    signature.bits_ &= ~(std::uint64_t{1} << 16);
    return signature;
  }
  Collective collective() const { return static_cast<Collective>(bits_ & 0xff); }
  Caller caller() const { return static_cast<Caller>(bits_ >> 8 & 0xff); }
  Algorithm algorithm() const { return static_cast<Algorithm>(bits_ >> 18 & 0x1f); }
  bool in_place() const { return (bits_ >> 16 & 1) != 0; }
  bool mismatched() const { return (bits_ >> 17 & 1) != 0; }
  bool same_broadcasts(PackedSignature other) const {
    return ((bits_ ^ other.bits_) >> 25 & kSomeBroadcasts) == 0;
  }
  /// A scan without the caller's own operand.
  bool exclusive() const { return (bits_ >> 24 & 1) != 0; }
  int root() const { return static_cast<int>(bits_ >> 32); }
  /// The function that the rank has called.
  const char* name() const { return name_of(collective(), caller(), exclusive()); }
  friend bool operator==(PackedSignature, PackedSignature) = default;

 private:
  static constexpr std::uint64_t kSomeBroadcasts = 0x7f;
  static_assert(kAlgorithms <= 0x20);
  std::uint64_t bits_ = 0;
};

/// A rank's buffers: it writes before it arrives, the others read between their arrival and their release.
/// Not in the slot, because it is read from other cores, and often the same as the time before.
struct alignas(64) SharedCollective::Buffers {
  Layout from, to;
  Count first = 0;                 ///< of a reduce-scatter: the element of `from` that belongs to to's first
  std::unique_ptr<Exchange> both;  ///< made by the rank's first exchange of blocks that may differ in size
  std::unique_ptr<Neighbourhood> neighbourhood;  ///< made by the rank's first exchange with neighbours

  void set(const Layout& new_from, const Layout& new_to, Count new_first) {
    if (!same(from, new_from)) from = new_from;
    if (!same(to, new_to)) to = new_to;
    if (first != new_first) first = new_first;
  }
  inline void set(const Blocks& out, const Blocks& in);
  static bool same(const Layout& a, const Layout& b) {
    return a.base == b.base && a.count == b.count && a.type == b.type;
  }
};

/// A block for each rank, or for each neighbour, that the caller gives, and that it gets.
struct alignas(64) SharedCollective::Exchange {
  Blocks out, in;
};

// Mostly the same as the time before, and then the other cores still have them.
inline void SharedCollective::Buffers::set(const Blocks& out, const Blocks& in) {
  if (!both) both = std::make_unique<Exchange>(Exchange{out, in});
  if (both->out != out) both->out = out;
  if (both->in != in) both->in = in;
}

/// The neighbours of a rank; shared as its buffers are. Nothing changes, except `incoming`, which its leader
/// finds once.
struct SharedCollective::Neighbourhood {
  /// A block of the caller, and the source's block that goes there; kNone if the source has none.
  struct Incoming {
    int source, to, from;
  };
  static constexpr int kNone = -1;

  explicit Neighbourhood(const core::Topology& topology);
  const int blocks;  ///< that come in
  std::vector<core::Neighbour> destinations,
      sources;                     ///< by rank; those to (from) the same one in their order
  std::vector<Incoming> incoming;  ///< instead of sources, from the first time on that its leader needs it
};

/// A rank's arguments, for the thread that does its part. All but the members for the broadcast ring are in
/// one line.
struct alignas(128) SharedCollective::ArgumentSlot {
  fiber::Completion released;
  PackedSignature call;
  Count bytes = 0;
  LocalGroup* group = nullptr;
  Buffers* buffers = nullptr;
  TeamRequest* operation = nullptr;  ///< of a pending collective
  std::uint64_t broadcasts = 0;      ///< by the ring of a team: how many the rank has called
  int rank = 0;
  static constexpr int kOpen = -1;  // no error's code
  int outcome = kOpen;              ///< for the rank, if there was a disagreement, which was dealt with

  bool is_settled() const { return outcome != kOpen; }
  void settle(base::Status status) { outcome = status.code(); }

  // Of broadcasts by the ring:
  std::atomic<std::uint64_t> read{0};  ///< it has read all with smaller numbers; told at the end of a batch
  std::atomic<ArgumentSlot*> follower{nullptr};  ///< the root that waits for this rank to read
  std::atomic<std::uint64_t> awaits{0};  ///< the slot of the ring for which the rank sleeps; 0: it does not
};

/// The ranks that have one home. Of a team, what is not atomic is the leader's.
struct alignas(128) SharedCollective::LocalGroup {
  std::atomic<int> arrived{0};
  std::atomic<int> pollers{0};  ///< members that wait for a slot of the ring, and do not sleep, or were woken
  int number = 0;
  unsigned exchanges = 0;
  static constexpr Count kNotCounted = -1;
  /// That the group moves, where blocks may differ in size; when asked for. relaxed: all count the same.
  std::atomic<Count> block_bytes{kNotCounted};
  std::vector<ArgumentSlot*> members;  ///< by rank
  /// Members that wait for a slot of the ring, and sleep. Alone, as roots look at it where `pollers` is not
  /// their business.
  alignas(64) std::atomic<int> asleep{0};
};

// For little data.
void pack_short(std::byte* room, const Layout& from, Count bytes);
void unpack_short(const Layout& to, Count offset, const std::byte* room, Count bytes);
/// Operands of a predefined operation into `room`, where they lie as in an array. Without the gap that there
/// may be behind the last one, which need not be the caller's.
void load(std::byte* room, const Layout& operands);
/// Exchanges the first bytes of two buffers.
void swap(const Layout& one, const Layout& other, Count bytes);
/// Whether of this pair it is `rank` that exchanges the two blocks, in place. Each rank does half of its
/// pairs.
inline bool swaps_with(int rank, int peer) {
  const bool odd_pair = (rank + peer) % 2 != 0;
  return peer != rank && (peer < rank) != odd_pair;
}

}  // namespace clump::coll
