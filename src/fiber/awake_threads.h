// Counts the threads of control that are awake, to detect deadlocks.
//
// Only threads of ranks wake threads of ranks. So when the last one that is awake goes to sleep, none of them
// can ever wake: a deadlock. The count includes kernel threads, also worker threads, and fibers that sleep
// until a point in time. A thread outside MPI counts as awake, whatever it does there, so there is no false
// alarm.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

/// Adds a rank, or a thread of one, to the count. The runtime calls it before the thread begins, and removes
/// the thread at its end.
CLUMP_HOST_API void thread_begins() noexcept;
CLUMP_HOST_API void thread_ends() noexcept;
/// From now on wakes are counted in `counter`, for a caller that wants to know whether there were any between
/// two looks.
CLUMP_HOST_API void count_wakes_in(std::atomic<std::uint64_t>& counter);
/// How many threads of this process belong to no rank: the runtime has started them, and they have not ended.
CLUMP_HOST_API int service_threads() noexcept;
/// How many of the counted threads are awake.
CLUMP_HOST_API int threads_awake() noexcept;

/// Sets what the last thread that goes to sleep calls at a deadlock. `report` must not wait or rely on other
/// threads.
CLUMP_HOST_API void on_deadlock(void (*report)());

namespace awake_threads {

/// Called by a thread that has woken, before it does anything else.
void note_wake() noexcept;
void service_thread_begins() noexcept;
void service_thread_ends() noexcept;

/// How many are awake. relaxed: a thread that waits for another one must not rely on the value.
extern constinit std::atomic<int> awake;
/// How many of the awake threads need no core: worker threads that nap, fibers that sleep until a point in
/// time, and those that wait in the kernel, as far as the monitor knows.
extern constinit std::atomic<int> resting;
/// How many awake threads need a core. relaxed, as `awake`: for threads that may give their core away.
inline int wanted_cores() noexcept {
  return awake.load(std::memory_order_relaxed) - resting.load(std::memory_order_relaxed);
}
inline void one_rests() noexcept { resting.fetch_add(1, std::memory_order_relaxed); }
inline void one_goes_on() noexcept { resting.fetch_sub(1, std::memory_order_relaxed); }

/// Counts one more thread as awake. Called before the sleeping thread can notice that it is woken.
void one_awake() noexcept;
/// Undoes a one_awake() that was not needed. The caller is awake itself.
void not_needed() noexcept;
/// Called by a thread that goes to sleep.
void falls_asleep();
/// Called when a rank's kernel thread goes to sleep for good, because a worker runs the rank from now on.
void becomes_fiber();
void fiber_ends() noexcept;

}  // namespace awake_threads
}  // namespace clump::fiber
