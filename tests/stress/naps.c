/* naps: every rank sleeps for 200 ms, with each function that there is for it, and all share one core. A
   sleeping rank leaves the core to others by itself: the scheduler does not have to take it away. */
#include "../meter.h"
#include "stress.h"

static void nap(int way) {
  const struct timespec time = {0, 200000000};
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += (until.tv_nsec + 200000000) / 1000000000;
  until.tv_nsec = (until.tv_nsec + 200000000) % 1000000000;
  if (way == 0) usleep(200000);
  if (way == 1) nanosleep(&time, NULL);
  if (way == 2) clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
  if (way == 3) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

int main(int argc, char** argv) {
  stress_begin(&argc, &argv, "0");
  for (int way = 0; way < 4; ++way) {
    MPI_Barrier(MPI_COMM_WORLD);
    Meter meter = meter_start("rank_stuck");
    const double begin = seconds();
    nap(way);
    const double slept = seconds() - begin;
    const long long stuck = meter_of_all(&meter);
    if (slept < 0.2) STRESS_FAIL("way %d: a nap of 0.2 s took %.4f s", way, slept);
    /* None was usual, and every rank but the last if the worker sleeps with it. Where the kernel gives the
       core to another program, it may look so once or twice. */
    if (stuck > stress_size / 2)
      STRESS_FAIL("way %d: %lld of %d ranks kept the core", way, stuck, stress_size);
    meter_end(&meter);
  }
  MPI_Finalize();
  return 0;
}
