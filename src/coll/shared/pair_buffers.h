// The staging buffers of non-blocking operations of two ranks, each alone at its worker. As in
// pair_blocking.cc, but several operations may be under way, and any thread that does a rank's part works
// with its buffers.
//
// Each rank owns some buffers. It fills one when it registers its operation. The other rank reads that
// buffer, owns it from then on, and gives one of its own for it, if it has one left.
// docs/decisions/027-swapped-rooms.md
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "coll/shared/pair_transfer.h"

namespace clump::coll {

class PairBuffers {
 public:
  /// By the rank, which comes: a room with what it gives; null: that is to be read where it lies.
  PairBuffer* fill(int rank, const PairTransfer& transfer, const Reduction* reduction);

  // By any thread:
  /// What the rank gave by this room has been read by the other one. `returned`: that one gave by a room,
  /// too.
  void read(int rank, PairBuffer& room, bool returned);
  /// The rank keeps what it has filled: it was not read.
  void give_back(int rank, PairBuffer& room) { put(rank, room); }
  /// Whether it is to be judged if what the rank gives had better be read where it lies.
  bool is_asked(int rank) const {
    return sides_[rank].verdict.load(std::memory_order_relaxed) == Verdict::kAsked;
  }
  /// Before the other one reads it there: is it in its own cache?
  void judge(int rank, const PairTransfer& transfer);
  /// Others do a rank's part while it computes. They can do so with all of it, but they do not fill a rank's
  /// buffer for it.
  void note_help();

 private:
  /// For so many operations under way at a time; with more, data is read where it lies.
  static constexpr int kRooms = 4;
  enum class Verdict { kNone, kAsked, kInPlace, kByRoom };
  struct alignas(128) Side {
    std::array<std::atomic<PairBuffer*>, 2 * kRooms> free{};
    // The rank's own:
    std::array<std::unique_ptr<PairBuffer>, kRooms> made;
    bool by_room = true;
    int left = kSwaps;  ///< operations for which this is taken as known to be better
    /// relaxed: a hint.
    alignas(64) std::atomic<Verdict> verdict{Verdict::kNone};
  };

  PairBuffer* take(int rank);
  PairBuffer* make(Side& side);
  void put(int rank, PairBuffer& room);
  bool wants_room(Side& side);

  Side sides_[2];
};

}  // namespace clump::coll
