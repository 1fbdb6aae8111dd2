// Sleeping and yielding: a fiber that does it lets others run. It is not woken by signals, whose handlers run
// on whatever kernel thread they come to.
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

namespace clump::image {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// No sleep is longer, so that no sum overflows.
constexpr seconds kForever{std::chrono::hours{24 * 365 * 100}};
/// The clock that tells the time of day may be set while a fiber sleeps until a time of it.
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

void sleep_for(nanoseconds time) {
  pthread_testcancel();  // all of these are cancellation points
  fiber::sleep_until(fiber::now() + time);
}

void sleep_until_time_of_day(nanoseconds when) {
  for (;;) {
    const nanoseconds left = when - now(CLOCK_REALTIME);
    if (left <= nanoseconds::zero()) return;
    sleep_for(std::min<nanoseconds>(left, kLookAtClock));
  }
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using clump::fiber::rank_fiber;

extern "C" {

CLUMP_HOST_API int clock_nanosleep(clockid_t clock, int flags, const timespec* request, timespec* left) {
  static constinit Hidden<int(clockid_t, int, const timespec*, timespec*)> real{"clock_nanosleep"};
  // steady_clock is CLOCK_MONOTONIC; sleeping by other clocks (of processor time, say) is the kernel's.
  const bool ours = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
  if (rank_fiber() == nullptr || !ours || request == nullptr) return real(clock, flags, request, left);
  if (!valid(*request)) return EINVAL;
  if ((flags & TIMER_ABSTIME) == 0)
    sleep_for(duration_of(*request));
  else if (clock == CLOCK_REALTIME)
    sleep_until_time_of_day(duration_of(*request));
  else
    sleep_for(duration_of(*request) - now(CLOCK_MONOTONIC));
  return 0;
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
  sleep_for(seconds(time));
  return 0;
}

CLUMP_HOST_API int usleep(useconds_t time) {
  static constinit Hidden<int(useconds_t)> real{"usleep"};
  if (rank_fiber() == nullptr) return real(time);
  sleep_for(std::chrono::microseconds(time));
  return 0;
}

CLUMP_HOST_API int thrd_sleep(const timespec* request, timespec* left) {
  static constinit Hidden<int(const timespec*, timespec*)> real{"thrd_sleep"};
  if (rank_fiber() == nullptr) return real(request, left);
  constexpr int kOtherError = -2;  // -1 is for signals
  return clock_nanosleep(CLOCK_REALTIME, 0, request, left) == 0 ? 0 : kOtherError;
}

CLUMP_HOST_API int sched_yield() noexcept {
  static constinit Hidden<int()> real{"sched_yield"};
  if (rank_fiber() == nullptr) return real();
  return clump::fiber::yield_to_all() ? 0 : real();
}

// Old programs have this one; the headers make sched_yield() of it.
CLUMP_HOST_API int old_yield() noexcept asm("pthread_yield");
int old_yield() noexcept { return sched_yield(); }
CLUMP_HOST_API void thrd_yield() { (void)sched_yield(); }

}  // extern "C"
