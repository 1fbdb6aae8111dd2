// The rooms of appointments of two ranks, each alone at its worker: as of teams (team_swaps.cc), but several
// operations may be under way, and what is done with a room is done by whoever does the part.
//
// Each rank owns rooms. It fills one when it comes, and the other one, who reads it, owns it from then on and
// gives one of his own for it, if he has one left. docs/decisions/027-swapped-rooms.md
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "coll/trade.h"

namespace clump::coll {

class SwapRooms {
 public:
  /// By the rank, which comes: a room with what it gives; null: that is to be read where it lies.
  SwapRoom* fill(int rank, const Trade& trade, const Reduction* reduction);

  // By any thread:
  /// What the rank gave by this room has been read by the other one. `returned`: that one gave by a room,
  /// too.
  void read(int rank, SwapRoom& room, bool returned);
  /// The rank keeps what it has filled: nobody read it.
  void give_back(int rank, SwapRoom& room) { put(rank, room); }
  /// Whether it is to be judged if what the rank gives had better be read where it lies.
  bool is_asked(int rank) const {
    return sides_[rank].verdict.load(std::memory_order_relaxed) == Verdict::kAsked;
  }
  /// Before the other one reads it there: is it in its own cache?
  void judge(int rank, const Trade& trade);
  /// Others do a rank's part while it computes. They can do so with all of it, but nobody fills a rank's room
  /// for it.
  void note_help();

 private:
  /// For so many operations under way at a time; with more, data is read where it lies.
  static constexpr int kRooms = 4;
  enum class Verdict { kNone, kAsked, kInPlace, kByRoom };
  struct alignas(128) Side {
    std::array<std::atomic<SwapRoom*>, 2 * kRooms> free{};
    // The rank's own:
    std::array<std::unique_ptr<SwapRoom>, kRooms> made;
    bool by_room = true;
    int left = kSwaps;  ///< operations for which this is taken as known to be better
    /// relaxed: a hint.
    alignas(64) std::atomic<Verdict> verdict{Verdict::kNone};
  };

  SwapRoom* take(int rank);
  SwapRoom* make(Side& side);
  void put(int rank, SwapRoom& room);
  bool wants_room(Side& side);

  Side sides_[2];
};

}  // namespace clump::coll
