// Accounting of threads of control that are awake, for the detection of deadlocks.
//
// Only threads of ranks wake threads of ranks. So when the last one that is awake goes to sleep, none will
// ever wake: a deadlock. The count covers kernel threads, worker threads among them, and fibers that sleep
// until a point in time. A thread outside MPI counts as awake, whatever it does there, so there is no false
// alarm.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

/// The runtime counts a rank or a thread of one in before it begins, and out at its end.
CLUMP_HOST_API void thread_begins() noexcept;
CLUMP_HOST_API void thread_ends() noexcept;
/// Where wakes are counted, for a caller that wants to know whether there were any between two looks.
CLUMP_HOST_API void count_wakes_in(std::atomic<std::uint64_t>& counter);
/// Threads of this process that belong to no rank, which the runtime has started.
CLUMP_HOST_API int service_threads() noexcept;
/// How many of those that are counted are awake.
CLUMP_HOST_API int threads_awake() noexcept;

/// What is called at a deadlock, by the last one that goes to sleep: it must not wait, or call for others.
CLUMP_HOST_API void on_deadlock(void (*report)());

namespace awake_threads {

/// A thread has woken, and has done nothing yet.
void note_wake() noexcept;
void one_service_thread() noexcept;

/// How many are awake. relaxed: a thread that waits for another one must not rely on it.
extern constinit std::atomic<int> awake;
/// How many of these need no core: fibers that sleep until a point in time, and those that wait in the kernel
/// for something, as far as the monitor knows.
extern constinit std::atomic<int> resting;
/// relaxed, as `awake`: for threads that may give their core away.
inline int wanted_cores() noexcept {
  return awake.load(std::memory_order_relaxed) - resting.load(std::memory_order_relaxed);
}
inline void one_rests() noexcept { resting.fetch_add(1, std::memory_order_relaxed); }
inline void one_goes_on() noexcept { resting.fetch_sub(1, std::memory_order_relaxed); }

/// One more is awake, for certain: called before the one that sleeps can notice.
void one_awake() noexcept;
/// Takes back a one_awake() that was not needed. The caller is awake itself.
void not_needed() noexcept;
/// The caller goes to sleep.
void falls_asleep();
/// A rank's kernel thread sleeps for good, as a worker runs it now.
void becomes_fiber();
void fiber_ends() noexcept;

}  // namespace awake_threads
}  // namespace clump::fiber
