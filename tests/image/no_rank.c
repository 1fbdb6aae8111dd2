/* MPI from a thread that belongs to no rank: one that the C library has made by itself, for a timer. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

static void on_timer(union sigval value) {
  int rank = -1;
  (void)value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  puts("a thread of no rank has called MPI");
}

int main(void) {
  begin_rank();
  struct sigevent event = {0};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = on_timer;
  timer_t timer;
  const struct itimerspec soon = {{0, 0}, {0, 1000000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  timer_settime(timer, 0, &soon, NULL);
  sleep(10);
  MPI_Finalize();
  return 0;
}
