// timer_create(): each rank has timers of its own, with signals of its own.
// For: progress reports and time-outs by SIGEV_SIGNAL or SIGEV_THREAD, samplers (gperftools, HPCToolkit) by
// SIGEV_THREAD_ID.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "check.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile sig_atomic_t ticks, last_code, last_value, most_overrun;
static volatile int thread_ticks, thread_value, rank_of_thread = -1;
static void tick(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  ticks++;
  last_code = info->si_code;
  last_value = info->si_value.sival_int;
  if (info->si_overrun > most_overrun) most_overrun = info->si_overrun;
}
static void tick_in_thread(union sigval value) {
  thread_value = value.sival_int;
  rank_of_thread = rank;
  __atomic_fetch_add(&thread_ticks, 1, __ATOMIC_SEQ_CST);
}
static void set(timer_t timer, int milliseconds, int again) {
  struct itimerspec time = {{0, again * 1000000L}, {milliseconds / 1000, milliseconds % 1000 * 1000000L}};
  CHECK(timer_settime(timer, 0, &time, NULL) == 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  install_info(SIGRTMIN + 1, tick, SA_RESTART);
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGRTMIN + 1;
  event.sigev_value.sival_int = 10 + rank;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 0) set(timer, 20, 20);
  MPI_Barrier(MPI_COMM_WORLD);
  int over = 0;
  for (int i = 1; !over; ++i) {  // for half a second, or until those that have a timer have seen it
    usleep(10000);
    const int enough = i >= 50 && (rank % 2 != 0 || ticks >= 5 || i >= 10000);
    MPI_Allreduce(&enough, &over, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  struct itimerspec left;
  CHECK(timer_gettime(timer, &left) == 0 && left.it_interval.tv_nsec == (rank % 2 == 0 ? 20000000 : 0));
  set(timer, 0, 0);
  if (rank % 2 == 0)
    CHECK(ticks >= 5 && last_code == SI_TIMER && last_value == 10 + rank);
  else
    CHECK(ticks == 0);
  // Blocked: one signal, which tells how many there were.
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGRTMIN + 1);
  usleep(50000);
  ticks = most_overrun = 0;
  sigprocmask(SIG_BLOCK, &one, NULL);
  set(timer, 10, 10);
  usleep(200000);
  CHECK(ticks == 0);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  CHECK(ticks >= 1 && most_overrun >= 5 && timer_getoverrun(timer) >= 0);
  set(timer, 0, 0);
  CHECK(timer_delete(timer) == 0 && timer_delete(timer) == -1);

  // To one thread.
  ticks = 0;
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_notify_thread_id = gettid();
  CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
  set(timer, 20, 0);
  while (ticks == 0) {
  }
  CHECK(timer_delete(timer) == 0);

  // In a thread that is made for it, and belongs to the rank.
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = tick_in_thread;
  event.sigev_notify_attributes = NULL;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  set(timer, 10, 10);
  for (int i = 0; i < 10000 && thread_ticks < 3; ++i) usleep(10000);
  CHECK(thread_ticks >= 3 && thread_value == 10 + rank && rank_of_thread == rank);
  CHECK(timer_delete(timer) == 0);

  // With no signal: a stop-watch.
  event.sigev_notify = SIGEV_NONE;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  set(timer, 90000, 0);
  CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec > 0);
  CHECK(timer_delete(timer) == 0);
  usleep(50000);
  return end();
}
