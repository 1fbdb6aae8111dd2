// The monitor: a kernel thread that wakes fibers at their time, and takes workers away from worker threads
// whose fibers keep them busy while others wait. For the fiber layer only, except the last two functions.
#pragma once

#include <sys/types.h>

#include "fiber/worker.h"

namespace clump::fiber::monitor {

/// Starts the monitor, once; false if there cannot be another thread.
bool start();
/// Notes that `fiber` is to be made runnable at `fiber.wake_at`. The caller keeps the time itself, by
/// wake_due(), until it calls keep_time(). Any thread.
void add_sleeper(Fiber& fiber);
/// From now on the monitor keeps the time for all sleeping fibers.
void keep_time() noexcept;
/// The time until the first one is to be woken; a long time if none sleeps.
std::chrono::nanoseconds until_due() noexcept;
/// Wakes the fibers whose time has come. Returns whether there were any.
bool wake_due();
/// Wakes a sleeping fiber before its time; false if it does not sleep. By a thread that belongs to no rank.
bool wake_early(Fiber& fiber);
/// Called when a worker has woken: there may be something to watch.
void worker_woke() noexcept;

/// Adds a worker thread that serves no worker, to be used again. Spares are kept on a stack.
void add_spare(WorkerThread& worker_thread);

// What the monitor has done, for tools; see meters.h. Any thread.
std::uint64_t stuck() noexcept;
std::uint64_t extra_worker_threads() noexcept;

// For the runtime's report on kernel threads (host/tasks.h). Any thread.

/// The number of the monitor's kernel thread; 0: there is none.
pid_t thread() noexcept;
/// Whether a fiber will go on without the help of another: one that sleeps until a point in time, or one that
/// can be run.
bool has_to_do() noexcept;

}  // namespace clump::fiber::monitor
