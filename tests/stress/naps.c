/* naps: every rank sleeps for 200 ms, with each function that there is for it; together they need little
   longer, though they share a core, because a sleeping rank leaves it to others. */
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
    const double begin = seconds();
    nap(way);
    const double slept = seconds() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    const double all = seconds() - begin;
    if (slept < 0.2) STRESS_FAIL("way %d: a nap of 0.2 s took %.4f s", way, slept);
    if (all > 2.5) STRESS_FAIL("way %d: all naps took %.2f s", way, all);
  }
  MPI_Finalize();
  return 0;
}
