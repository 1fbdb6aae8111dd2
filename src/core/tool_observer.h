// The seam between what happens to a rank and the tools that watch it (MPI-5.0 chapter 15).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/counter.h"
#include "base/types.h"

namespace clump::core {

/// Is told at once of what happens to a rank, by whoever makes it happen: any thread, in the middle of
/// anything, with locks of ours held. So it only notes it down. A rank's ToolObserver lives as long as the
/// rank.
class ToolObserver {
 public:
  struct Message {
    std::uint32_t context;
    int source, tag;
    Count bytes;
  };
  /// Before the first of the next two: so many messages wait.
  virtual void unexpected_are(Count messages) = 0;
  virtual void unexpected_came(const Message& message) = 0;
  virtual void unexpected_went() = 0;
  /// The rank begins a collective operation; numbers as in coll/select/select.h.
  virtual void collective_begins(std::uint32_t context, int collective, int algorithm, Count bytes) = 0;
  /// An idle worker runs the rank, or the rank has lost its worker.
  virtual void taken(int worker) = 0;
  virtual void stuck(int worker) = 0;

 protected:
  ~ToolObserver() = default;
};

/// What a rank's collectives did, and what a tool or the user wants them to do. Indexes are numbers of
/// coll/select/select.h.
struct CollectiveChoices {
  static constexpr std::size_t kCollectives = 16, kAlgorithms = 24;
  std::array<base::Counter, kCollectives> begun;  ///< written by the rank's threads
  std::array<base::Counter, kAlgorithms> used;
  /// One more than the number of the algorithm that is wanted; 0: none in particular. relaxed: the rank's own
  /// threads set it, and are ordered by what the program does.
  std::array<std::atomic<std::uint8_t>, kCollectives> wanted{};
  /// Reductions give the same bits wherever the ranks are. relaxed: as above.
  std::atomic<bool> reproducible{false};
  /// Ranks compare what they call before they do it (coll/check/check.h). relaxed: as above.
#ifdef CLUMP_CHECKS
  std::atomic<bool> checked{true};
#else
  std::atomic<bool> checked{false};
#endif
};

/// What a communicator's hints want its collectives to do, above what a tool wants.
struct CollectiveWishes {
  std::array<std::uint8_t, CollectiveChoices::kCollectives> wanted{};  ///< as there
  bool reproducible = false;
};

/// What a tool keeps at a rank.
class ToolState {
 public:
  virtual ~ToolState() = default;
};

}  // namespace clump::core
