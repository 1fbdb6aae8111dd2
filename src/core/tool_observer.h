// The interface between what happens to a rank and the tools that observe it (MPI-5.0 chapter 15).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/counter.h"
#include "base/types.h"

namespace clump::core {

/// Is told at once of what happens to a rank, by the thread that makes it happen: any thread, at any place,
/// with locks of Clump held. So it only notes events down. A rank's ToolObserver lives as long as the rank.
class ToolObserver {
 public:
  struct Message {
    std::uint32_t context;
    int source, tag;
    Count bytes;
  };
  /// Called before the first call of the next two: so many messages are unexpected.
  virtual void unexpected_are(Count messages) = 0;
  virtual void unexpected_came(const Message& message) = 0;
  virtual void unexpected_went() = 0;
  /// The rank begins a collective operation. The numbers are those of coll/select/select.h.
  virtual void collective_begins(std::uint32_t context, int collective, int algorithm, Count bytes) = 0;
  /// An idle worker runs the rank, or the rank has lost its worker.
  virtual void taken(int worker) = 0;
  virtual void stuck(int worker) = 0;

 protected:
  ~ToolObserver() = default;
};

/// What the collectives of a rank did, and what a tool or the user wants them to do. The indexes are the
/// numbers of coll/select/select.h.
struct CollectiveChoices {
  static constexpr std::size_t kCollectives = 16, kAlgorithms = 24;
  std::array<base::Counter, kCollectives> begun;  ///< written by the rank's threads
  std::array<base::Counter, kAlgorithms> used;
  /// 1 + the number of the algorithm that is wanted; 0: no particular one. relaxed: the rank's own threads
  /// set it, and the program orders them.
  std::array<std::atomic<std::uint8_t>, kCollectives> wanted{};
  /// Whether reductions give the same bits wherever the ranks are. relaxed: as above.
  std::atomic<bool> reproducible{false};
  /// Whether ranks compare what they call before each collective (coll/check/check.h). relaxed: as above.
#ifdef CLUMP_CHECKS
  std::atomic<bool> checked{true};
#else
  std::atomic<bool> checked{false};
#endif
};

/// What the hints of a communicator ask of its collectives; stronger than what a tool wants.
struct CollectiveWishes {
  std::array<std::uint8_t, CollectiveChoices::kCollectives> wanted{};  ///< as in CollectiveChoices
  bool reproducible = false;
};

/// What a tool keeps for a rank.
class ToolState {
 public:
  virtual ~ToolState() = default;
};

}  // namespace clump::core
