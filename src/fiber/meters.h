// What the scheduler counts, for tools (MPI-5.0 chapter 15), and what it tells them at once. Nothing here is
// on the way of a switch: what counts there was counted before, to see which worker is busy.
#pragma once

#include <cstdint>

#include "fiber/identity.h"

namespace clump::fiber {

/// Of one worker. Any thread may ask; the parts may be of slightly different moments.
struct WorkerMeters {
  std::uint64_t switches = 0;  ///< from one fiber to the next
  std::uint64_t taken = 0;     ///< fibers that it has taken from other workers, to run them as stolen fibers
  std::uint64_t runnable = 0;  ///< fibers that wait in its queue
  bool asleep = false;
};
CLUMP_HOST_API WorkerMeters meters_of(int worker) noexcept;

/// Of this process.
struct ProcessMeters {
  std::uint64_t stuck = 0;           ///< times that a worker was taken away from a fiber that kept it busy
  std::uint64_t worker_threads = 0;  ///< kernel threads that have served workers
  std::uint64_t parts_offered = 0;   ///< of work that was offered to helpers (help.h)
  std::uint64_t parts_helped = 0;    ///< of these, done by others than the owner
};
CLUMP_HOST_API ProcessMeters process_meters() noexcept;

/// What may happen to a rank.
enum class Move : std::uint8_t {
  kTaken,  ///< an idle worker runs it as a stolen fiber from now on
  kStuck,  ///< it has kept its worker busy while others waited, and goes on without it
};
/// Has `tell` called for all ranks from now on, by a worker thread or the monitor: it must be short, and must
/// not wait. `worker` is the one that has taken the rank, or that was taken from it. Once, and for good.
CLUMP_HOST_API void on_move(void (*tell)(Identity& rank, Move move, int worker)) noexcept;

/// Inside the fiber layer: tells the observer, if there is one. `rank` may be null.
void tell_move(Identity* rank, Move move, int worker) noexcept;

}  // namespace clump::fiber
