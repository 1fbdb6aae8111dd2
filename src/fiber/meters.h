// What the scheduler counts for tools (MPI-5.0 chapter 15), and what it reports to them at once. Nothing here
// adds to the cost of a switch: what is counted there is needed anyway, to see which worker is busy.
#pragma once

#include <cstdint>

#include "fiber/identity.h"

namespace clump::fiber {

/// The counts of one worker. Any thread may ask; the values may be of slightly different moments.
struct WorkerMeters {
  std::uint64_t switches = 0;  ///< from one fiber to the next
  std::uint64_t taken = 0;     ///< fibers taken from other workers, to run them as stolen fibers
  std::uint64_t runnable = 0;  ///< fibers in its queue
  bool asleep = false;
};
CLUMP_HOST_API WorkerMeters meters_of(int worker) noexcept;

/// The counts of this process.
struct ProcessMeters {
  std::uint64_t stuck = 0;           ///< how often a worker was taken away from a fiber that kept it busy
  std::uint64_t worker_threads = 0;  ///< kernel threads that have served workers
  std::uint64_t parts_offered = 0;   ///< parts of work that was offered to helpers (help.h)
  std::uint64_t parts_helped = 0;    ///< of these, parts done by others than the owner
};
CLUMP_HOST_API ProcessMeters process_meters() noexcept;

/// What may happen to a rank.
enum class Move : std::uint8_t {
  kTaken,  ///< an idle worker runs it, as a stolen fiber
  kStuck,  ///< it has kept its worker busy while others waited, and goes on without a worker
};
/// From now on `tell` is called for all ranks, by a worker thread or the monitor: it must be short, and must
/// not wait. `worker` is the worker that has taken the rank, or that the rank has lost. Once.
CLUMP_HOST_API void on_move(void (*tell)(Identity& rank, Move move, int worker)) noexcept;

/// Inside the fiber layer: tells the observer, if there is one. `rank` may be null.
void tell_move(Identity* rank, Move move, int worker) noexcept;

}  // namespace clump::fiber
