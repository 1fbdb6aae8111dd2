// Sleeping and yielding: a fiber that sleeps or yields lets others run. A signal handler of the rank ends a
// sleep.
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>

#include <pthread.h>

#include "base/types.h"
#include "fiber/fiber.h"
#include "image/symbols.h"
#include "process/signals/waits.h"

namespace clump::image {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// No sleep is longer, so that sums do not overflow.
constexpr seconds kForever{std::chrono::hours{24 * 365 * 100}};
/// How often a sleep until a time of day looks at the clock, which may be set meanwhile.
constexpr seconds kLookAtClock{1};

bool valid(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}

nanoseconds duration_of(const timespec& time) {
  if (time.tv_sec >= kForever.count()) return kForever;
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

nanoseconds now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return duration_of(time);
}

/// Sleeps. Returns the time that is left when a handler has ended the sleep; 0 if none has.
nanoseconds sleep_for(nanoseconds time) {
  const auto end = fiber::now() + time;
  if (time > nanoseconds::zero() && signals::is_ours()) {
    if (!signals::wait_for_handler(signals::mine(), end, signals::mine().handled)) return {};
    return std::max<nanoseconds>(end - fiber::now(), nanoseconds(1));
  }
  pthread_testcancel();  // all of these are cancellation points
  fiber::sleep_until(end);
  return {};
}

nanoseconds sleep_until_time_of_day(nanoseconds when) {
  for (;;) {
    const nanoseconds left = when - now(CLOCK_REALTIME);
    if (left <= nanoseconds::zero()) return {};
    const nanoseconds rest = sleep_for(std::min<nanoseconds>(left, kLookAtClock));
    if (rest > nanoseconds::zero()) return rest;
  }
}

timespec to_timespec(nanoseconds time) {
  return {static_cast<time_t>(time / seconds(1)), static_cast<long>((time % seconds(1)).count())};
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using clump::fiber::rank_fiber;

extern "C" {

CLUMP_HOST_API int clock_nanosleep(clockid_t clock, int flags, const timespec* request, timespec* left) {
  static constinit Hidden<int(clockid_t, int, const timespec*, timespec*)> real{"clock_nanosleep"};
  // steady_clock is CLOCK_MONOTONIC; sleeping by other clocks (of processor time, for example) is left to the
  // kernel.
  const bool ours = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
  if (rank_fiber() == nullptr || !ours || request == nullptr) return real(clock, flags, request, left);
  if (!valid(*request)) return EINVAL;
  nanoseconds rest;
  if ((flags & TIMER_ABSTIME) == 0)
    rest = sleep_for(duration_of(*request));
  else if (clock == CLOCK_REALTIME)
    rest = sleep_until_time_of_day(duration_of(*request));
  else
    rest = sleep_for(duration_of(*request) - now(CLOCK_MONOTONIC));
  if (rest == nanoseconds::zero()) return 0;
  if ((flags & TIMER_ABSTIME) == 0 && left != nullptr) *left = to_timespec(rest);
  return EINTR;
}

CLUMP_HOST_API int nanosleep(const timespec* request, timespec* left) {
  static constinit Hidden<int(const timespec*, timespec*)> real{"nanosleep"};
  if (rank_fiber() == nullptr) return real(request, left);
  const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, left);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

CLUMP_HOST_API unsigned sleep(unsigned time) {
  static constinit Hidden<unsigned(unsigned)> real{"sleep"};
  if (rank_fiber() == nullptr) return real(time);
  return static_cast<unsigned>(sleep_for(seconds(time)) / seconds(1));
}

CLUMP_HOST_API int usleep(useconds_t time) {
  static constinit Hidden<int(useconds_t)> real{"usleep"};
  if (rank_fiber() == nullptr) return real(time);
  if (sleep_for(std::chrono::microseconds(time)) == nanoseconds::zero()) return 0;
  errno = EINTR;
  return -1;
}

CLUMP_HOST_API int thrd_sleep(const timespec* request, timespec* left) {
  static constinit Hidden<int(const timespec*, timespec*)> real{"thrd_sleep"};
  if (rank_fiber() == nullptr) return real(request, left);
  constexpr int kInterrupted = -1, kOtherError = -2;
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, request, left);
  return error == 0 ? 0 : error == EINTR ? kInterrupted : kOtherError;
}

// A handler that runs meanwhile may end the thread: see signals/kill.cc.
CLUMP_HOST_API int call_sched_yield() asm("sched_yield");
int call_sched_yield() {
  static constinit Hidden<int()> real{"sched_yield"};
  if (rank_fiber() == nullptr) return real();
  return clump::fiber::yield_to_all() ? 0 : real();
}

// Old programs call this one; the headers make it sched_yield().
CLUMP_HOST_API int old_yield() asm("pthread_yield");
int old_yield() { return call_sched_yield(); }
CLUMP_HOST_API void thrd_yield() { (void)call_sched_yield(); }

}  // extern "C"
