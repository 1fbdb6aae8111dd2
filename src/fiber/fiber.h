// Fibers: ranks as threads of control that workers run (the `fibers` scheduler).
//
// A worker is a place to run fibers: one for each usable core, with a queue of the fibers that can run. A
// worker thread is a kernel thread that serves a worker. If a fiber keeps its worker thread busy outside MPI
// while others wait, the monitor gives the worker to another worker thread. A fiber has a home: the worker
// that its rank is mapped to. An idle worker runs fibers of others as stolen fibers, until these wait again.
//
// Threads that ranks make, and all threads under the `threads` scheduler, are kernel threads and not fibers:
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

/// The main thread of control of a rank. Lives until the process ends.
struct alignas(64) Fiber {
  Context context;                        ///< first, so that a Context* of a fiber is its Fiber*
  WorkerThread* worker_thread = nullptr;  ///< the kernel thread that runs it, while it runs
  Identity* rank = nullptr;               ///< the rank that it belongs to; null for worker threads
  int home = 0;                           ///< the worker that its rank is mapped to
  std::atomic<int> in_use{1};             ///< 0: no kernel thread uses its stack
  std::atomic<bool> over{false};          ///< it will not run again
  /// Whether it can be run. acquire: pairs with the release by the thread that has left its stack.
  bool left_behind() const noexcept { return in_use.load(std::memory_order_acquire) == 0; }
  int empty_polls = 0;                            ///< of polling calls, in a row
  KernelState* kernel_state = nullptr;            ///< null: as when the process began; see kernel_state.h
  Fiber* next = nullptr;                          ///< in an inbox or a list of sleepers
  std::chrono::steady_clock::time_point wake_at;  ///< while it sleeps
  std::uint64_t priority = 0;                     ///< used by exploration.cc
  std::atomic<Waiter*> waiter{nullptr};           ///< Waiter::mine(), once it has waited with one
};

namespace detail {
CLUMP_HOST_API extern constinit thread_local Fiber* this_fiber;
}  // namespace detail

/// The calling fiber; null if the caller is a kernel thread.
inline Fiber* this_fiber() noexcept { return detail::this_fiber; }

/// The same, but null also for a worker thread that looks for work: not null if the caller runs a program's
/// code.
CLUMP_HOST_API Fiber* rank_fiber() noexcept;

// Set-up, by the runtime, in this order.

/// Makes one worker for each of `cores` (numbers of the operating system; -1: the kernel chooses), with room
/// for `fibers` fibers. Before any fiber. Every kernel thread that will run fibers calls `prepare` first.
/// False if the kernel has no membarrier (Linux 4.14).
[[nodiscard]] CLUMP_HOST_API bool make_workers(const std::vector<std::int32_t>& cores, int fibers,
                                               void (*prepare)());
/// Sets the bells that other processes will ring: one for each worker or, without workers, the only one for
/// all threads. Before anything sleeps.
CLUMP_HOST_API void listen_to(std::span<base::Bell> bells);
/// Declares that other processes of the job use the same cores: then workers without work give their cores
/// away soon. Before anything waits.
CLUMP_HOST_API void share_cores() noexcept;
/// Declares that polling takes system calls, as a network does: then a polling thread offers its core to
/// others now and then. Before anything waits.
CLUMP_HOST_API void offer_cores() noexcept;
/// Makes the calling thread, which thread_begins() has counted, a fiber with this home: its kernel thread
/// goes to sleep for good, and a worker goes on in its place. All signals must be blocked; a worker does not
/// block them. `rank` is the rank whose main thread it is.
CLUMP_HOST_API void become_fiber(int home, Identity* rank);
/// Lets the workers begin; false if the system gives no threads. Fibers may be made before and after.
[[nodiscard]] CLUMP_HOST_API bool start_workers();

// What runs where.

/// How many workers there are; 0 under the `threads` scheduler.
CLUMP_HOST_API int worker_count() noexcept;

/// Sets the progress function. Idle workers and waiting fibers call it for a worker, to move what has come in
/// for the worker's fibers. Without workers, threads that wait for other processes call it with 0. It returns
/// whether anything moved. Several threads may call it at once; it never blocks or waits.
CLUMP_HOST_API void on_progress(bool (*poll)(int worker));

/// Sets a function that a thread calls when it has found that nothing has come in and is about to sleep.
/// False: it has to look once more. True: something else will wake it for what comes.
CLUMP_HOST_API void before_sleep(bool (*may_sleep)());

/// Makes a full barrier in every thread of this process. Takes microseconds, so that the other threads need
/// no barriers.
CLUMP_HOST_API void barrier_everywhere() noexcept;

// What fibers do. Kernel threads may call these functions, too, and get what the C library does.

/// Lets other fibers of this worker run first; false if there are none.
CLUMP_HOST_API bool yield();
/// The same, and also lets kernel threads run that want the core; false if there was none.
CLUMP_HOST_API bool yield_to_all();
CLUMP_HOST_API void sleep_until(std::chrono::steady_clock::time_point when);
/// The time by the clock of sleep_until().
CLUMP_HOST_API std::chrono::steady_clock::time_point now();
/// Ends the calling rank: its thread of control does not run again, and is removed from the count
/// (awake_threads.h).
[[noreturn]] CLUMP_HOST_API void end_here();

/// Called in a child that fork() has made: it has one thread, which is not a fiber any more.
CLUMP_HOST_API void forget_fibers() noexcept;

}  // namespace clump::fiber
