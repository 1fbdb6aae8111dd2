// Timers of ranks that the kernel keeps. For this layer only.
#pragma once

#include <atomic>
#include <ctime>

#include "fiber/float_control.h"
#include "process/signals/state.h"

namespace clump::image::signals {

/// Changed by the rank that has it, with the Guard where the service may read it.
struct Timer {
  std::atomic<bool> used{false};
  std::uint64_t generation = 0;  ///< how often it was made: what the kernel tells of an earlier one is void
  fiber::Identity* rank = nullptr;
  Thread* to = nullptr;        ///< null: any thread of the rank
  int kernels = 0;             ///< the kernel's number of the timer
  timer_t threaded = nullptr;  ///< SIGEV_THREAD: the C library's timer
  /// SIGEV_THREAD: it counts as an awake thread of the process (fiber/awake_threads.h), because it will begin
  /// one. From when it is set until it is deleted, or its last function has begun. Any thread of the rank,
  /// and those that the C library makes.
  std::atomic<bool> counts{false};
  void (*function)(sigval) = nullptr;
  fiber::FloatControl floats;  ///< of the thread that has made it: its function computes so
  bool of_fiber = false;       ///< that thread is a fiber
  int number = 0;              ///< of the signal
  sigval value{};
  int overrun = 0;        ///< of the signal that was taken last
  bool of_alarm = false;  ///< ITIMER_REAL
};

/// Deletes one: the result is that of the C library.
int delete_timer(Timer& timer);
/// At a rank's end: no function of its timers with SIGEV_THREAD begins any more.
void delete_timers_of(const fiber::Identity& rank);
/// A timer for the calling rank. Null with errno if there are no more.
Timer* make_timer();
/// Makes the kernel signal the service when the timer expires. The results are those of the C library; so are
/// those of the next functions.
int start_timer(clockid_t clock, Timer& timer);
int set_timer(const Timer& timer, int flags, const itimerspec& wanted, itimerspec* before);
int get_timer(const Timer& timer, itimerspec& now);

}  // namespace clump::image::signals
