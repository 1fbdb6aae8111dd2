// Sleeping and yielding, by every function that does it.
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <limits>
#include <thread>

#include "../meter.h"
#include "expect.h"
#include "rank.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Checks that `sleep` takes at least `time`.
template <typename Sleep>
void takes(milliseconds time, Sleep sleep) {
  const auto begin = Clock::now();
  sleep();
  EXPECT(Clock::now() - begin >= time);
}

timespec later(clockid_t clock, long milliseconds) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += milliseconds * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

void each_function() {
  const timespec ten{0, 10'000'000};
  timespec left{7, 7};
  takes(milliseconds(1000), [] { EXPECT(sleep(1) == 0); });
  takes(milliseconds(10), [] { EXPECT(usleep(10'000) == 0); });
  takes(milliseconds(10), [&] { EXPECT(nanosleep(&ten, &left) == 0); });
  EXPECT(left.tv_sec == 7);  // written when a signal comes, only
  takes(milliseconds(10), [&] { EXPECT(thrd_sleep(&ten, nullptr) == 0); });
  takes(milliseconds(10), [] { std::this_thread::sleep_for(milliseconds(10)); });
  takes(milliseconds(10), [] { std::this_thread::sleep_until(Clock::now() + milliseconds(10)); });
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
    takes(milliseconds(10), [&] { EXPECT(clock_nanosleep(clock, 0, &ten, nullptr) == 0); });
    const timespec until = later(clock, 10);
    takes(milliseconds(9), [&] { EXPECT(clock_nanosleep(clock, TIMER_ABSTIME, &until, nullptr) == 0); });
    const timespec after = later(clock, 0);
    EXPECT(after.tv_sec > until.tv_sec || (after.tv_sec == until.tv_sec && after.tv_nsec >= until.tv_nsec));
    EXPECT(clock_nanosleep(clock, TIMER_ABSTIME, &until, nullptr) == 0);  // is past
  }
  const timespec none{0, 0};
  EXPECT(nanosleep(&none, nullptr) == 0);
  EXPECT(sched_yield() == 0);
  thrd_yield();
  std::this_thread::yield();
}

void invalid_arguments() {
  const timespec bad[] = {{0, -1}, {0, 1'000'000'000}, {-1, 0}};
  for (const timespec& time : bad) {
    errno = 0;
    EXPECT(nanosleep(&time, nullptr) == -1 && errno == EINVAL);
    EXPECT(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == EINVAL);
    EXPECT(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, nullptr) == EINVAL);
    EXPECT(thrd_sleep(&time, nullptr) < -1);
  }
  const timespec ten{0, 10'000'000};
  EXPECT(clock_nanosleep(9999, 0, &ten, nullptr) == EINVAL);
  EXPECT(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ten, nullptr) != 0);
  EXPECT(nanosleep(nullptr, nullptr) == -1 && errno == EFAULT);
}

/// Whoever waits for a rank that sleeps is served when it wakes, and who sleeps for ever disturbs nobody.
void among_others(int rank) {
  int word = 0;
  if (rank == 0) {
    usleep(20'000);
    word = 1;
  }
  MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  EXPECT(word == 1);
  for (int i = 0; i < 200; ++i) {
    usleep(static_cast<useconds_t>((rank * 37 + i * 11) % 500));
    if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main() {
  const int rank = begin_rank();
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Meter stuck = meter_start("rank_stuck");
  each_function();
  invalid_arguments();
  among_others(rank);
  // A rank that sleeps leaves its worker to others by itself. With 16 ranks on two cores none had to be taken
  // away, or one on a busy machine; and 16 if sleep() keeps them.
  EXPECT(meter_of_all(&stuck) <= ranks / 2);
  meter_end(&stuck);
  MPI_Finalize();
  return failures;
}
