// The monitor: a kernel thread that wakes fibers at their time, and takes workers away from worker threads
// whose fibers keep them busy while others wait. Inside the fiber layer only, but for the last two.
#pragma once

#include <sys/types.h>

#include "fiber/worker.h"

namespace clump::fiber::monitor {

/// Begins it, once; false if there cannot be another thread.
bool start();
/// Notes that `fiber` is to be made runnable at `fiber.wake_at`. Who calls keeps the time himself, by
/// wake_due(), until he calls keep_time(). Any thread.
void add_sleeper(Fiber& fiber);
/// From now on the monitor does, for all that sleep.
void keep_time() noexcept;
/// Until the first one is to be woken; a long time if none sleeps.
std::chrono::nanoseconds until_due() noexcept;
/// Wakes those whose time has come; whether there were any.
bool wake_due();
/// Wakes one that sleeps, before its time; false if it does not sleep. By a thread that is none of a rank's.
bool wake_early(Fiber& fiber);
/// A worker has woken: there may be something to watch.
void worker_woke() noexcept;

/// A worker thread that serves none, to be used again. Spares lie on a stack.
void add_spare(WorkerThread& worker_thread);

// What it has done, for tools; see meters.h. Any thread.
std::uint64_t stuck() noexcept;
std::uint64_t extra_worker_threads() noexcept;

// For the runtime's look at kernel threads (host/tasks.h). Any thread.

/// The monitor's number; 0: there is none.
pid_t thread() noexcept;
/// Whether a fiber will go on without anybody's help: one that sleeps until a point in time, or one that can
/// be run.
bool has_to_do() noexcept;

}  // namespace clump::fiber::monitor
