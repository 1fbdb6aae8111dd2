// Fibers: ranks as threads of control that workers run (the `fibers` scheduler).
//
// A worker is a place to run fibers, one for each usable core, with a queue of those that can run. A worker
// thread is a kernel thread that serves a worker; should a fiber keep its worker thread busy outside MPI
// while others wait, the monitor gives the worker to another worker thread. A fiber has a home, the worker
// that its rank is mapped to. Idle workers run fibers of others as stolen fibers until these wait again.
//
// Threads that ranks make, and every thread under the `threads` scheduler, are kernel threads and no fibers:
// for them this_fiber() is null.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bell.h"
#include "base/types.h"
#include "fiber/context.h"
#include "fiber/identity.h"

namespace clump::fiber {

class WorkerThread;
class Waiter;
struct KernelState;

/// One rank's main thread of control. Lives until the process ends.
struct alignas(64) Fiber {
  Context context;                        ///< first, so that a Context* of a fiber is its Fiber*
  WorkerThread* worker_thread = nullptr;  ///< the kernel thread that runs it, while it runs
  Identity* rank = nullptr;               ///< whose it is; null for worker threads
  int home = 0;                           ///< worker
  std::atomic<int> in_use{1};             ///< 0: no thread runs on its stack
  std::atomic<bool> over{false};          ///< it will not run again
  /// Whether it can be run. acquire: pairs with the release by the thread that has left its stack.
  bool left_behind() const noexcept { return in_use.load(std::memory_order_acquire) == 0; }
  int empty_polls = 0;                            ///< in a row, of polling calls
  KernelState* kernel_state = nullptr;            ///< null: as the process began; see kernel_state.h
  Fiber* next = nullptr;                          ///< in an inbox or a list of sleepers
  std::chrono::steady_clock::time_point wake_at;  ///< while it sleeps
  std::uint64_t priority = 0;                     ///< exploration.cc's
  std::atomic<Waiter*> waiter{nullptr};           ///< Waiter::mine(), once it has waited there
};

namespace detail {
CLUMP_HOST_API extern constinit thread_local Fiber* this_fiber;
}  // namespace detail

/// The calling fiber; null for a kernel thread that is none.
inline Fiber* this_fiber() noexcept { return detail::this_fiber; }

/// The same, but null also for a worker thread that looks for work: who runs a program's code.
CLUMP_HOST_API Fiber* rank_fiber() noexcept;

// Set-up, by the runtime, in this order.

/// Makes one worker for each of `cores` (numbers of the operating system; -1 leaves it to the kernel), with
/// room for so many fibers. Before any fiber. Every kernel thread that will run fibers calls `prepare` first.
/// False if the kernel has no membarrier (Linux 4.14).
[[nodiscard]] CLUMP_HOST_API bool make_workers(const std::vector<std::int32_t>& cores, int fibers,
                                               void (*prepare)());
/// Other processes will ring `bells`: one for each worker or, without workers, the only one for all threads.
/// Before anything sleeps.
CLUMP_HOST_API void listen_to(std::span<base::Bell> bells);
/// Other processes of the job have the same cores: workers without work give them away soon. Before anything
/// waits.
CLUMP_HOST_API void share_cores() noexcept;
/// What is polled takes system calls, as a network does: who polls also offers his core to others now and
/// then. Before anything waits.
CLUMP_HOST_API void offer_cores() noexcept;
/// Makes the calling thread, which thread_begins() has counted, a fiber with this home: its kernel thread
/// goes to sleep for good, and a worker goes on in its place. All signals must be blocked; a worker's are
/// not. `rank` is whose main thread it is.
CLUMP_HOST_API void become_fiber(int home, Identity* rank);
/// Lets the workers begin; false if the system gives no threads. Fibers may be made before and after.
[[nodiscard]] CLUMP_HOST_API bool start_workers();

// What runs where.

/// 0 under the `threads` scheduler.
CLUMP_HOST_API int worker_count() noexcept;

/// Sets what idle workers and waiting fibers call for a worker, to move what has come in for its fibers; and
/// what threads call that wait for other processes, with 0, where there are no workers.
/// Returns whether anything moved. Called by several threads at once; never blocks or waits.
CLUMP_HOST_API void on_progress(bool (*poll)(int worker));

/// Sets what a thread calls that would sleep now, having found that nothing has come in: false if it must
/// look once more. After true, something else will wake it for what comes.
CLUMP_HOST_API void before_sleep(bool (*may_sleep)());

/// A full barrier in every thread of this process. Takes microseconds, so that others need none.
CLUMP_HOST_API void barrier_everywhere() noexcept;

// What fibers do. Kernel threads may call them too, and get what the C library does.

/// Lets other fibers of this worker run first; false if there are none.
CLUMP_HOST_API bool yield();
/// The same, and lets threads run that want the core; false if there was none.
CLUMP_HOST_API bool yield_to_all();
CLUMP_HOST_API void sleep_until(std::chrono::steady_clock::time_point when);
/// By the clock of sleep_until().
CLUMP_HOST_API std::chrono::steady_clock::time_point now();
/// The calling rank is over: its thread of control is not run again, and is counted out (awake_threads.h).
[[noreturn]] CLUMP_HOST_API void end_here();

/// In a child that fork() has made: it has one thread, which is no fiber any more.
CLUMP_HOST_API void forget_fibers() noexcept;

}  // namespace clump::fiber
