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
  /// Fills a buffer of the rank's with what it sends. Null: that is to be read where it lies, since it is
  /// short, or no buffer is left, or the last measurement says so. By the rank, when it registers its
  /// operation.
  PairBuffer* fill(int rank, const PairTransfer& transfer, const Reduction* reduction);

  // By any thread:
  /// The other rank has read what `rank` has sent in `buffer`, and owns the buffer from now on. It gives one
  /// of its own for it, if it has one, unless it has sent in a buffer too (`returned`).
  void read(int rank, PairBuffer& buffer, bool returned);
  /// The rank keeps what it has filled: it was not read.
  void give_back(int rank, PairBuffer& buffer) { put(rank, buffer); }
  /// Whether the reader of what the rank sends, where it lies, shall measure how far the data is: judge().
  bool is_asked(int rank) const {
    return sides_[rank].verdict.load(std::memory_order_relaxed) == Verdict::kAsked;
  }
  /// Before the other rank reads it there: is it in that one's cache?
  void judge(int rank, const PairTransfer& transfer);
  /// Other threads do a rank's part while it computes. They can read data where it lies for it, but they do
  /// not fill its buffers.
  void note_help();

 private:
  /// For so many operations under way at a time; with more, data is read where it lies.
  static constexpr int kMostBuffers = 4;
  enum class Verdict { kNone, kAsked, kInPlace, kStaged };
  struct alignas(128) Side {
    std::array<std::atomic<PairBuffer*>, 2 * kMostBuffers> free{};
    // The rank's own:
    std::array<std::unique_ptr<PairBuffer>, kMostBuffers> made;
    bool staged = true;
    int left = kStagedInARow;  ///< operations for which this is taken as known to be better
    /// relaxed: a hint.
    alignas(64) std::atomic<Verdict> verdict{Verdict::kNone};
  };

  PairBuffer* take(int rank);
  PairBuffer* make(Side& side);
  void put(int rank, PairBuffer& buffer);
  bool wants_staging(Side& side);

  Side sides_[2];
};

}  // namespace clump::coll
