// ITIMER_PROF and ITIMER_VIRTUAL: each rank is told of the processor time that it uses itself.
// For: sampling profilers (gprof's, gperftools'), limits of processor time.
#include <sys/time.h>
#include <time.h>

#include "check.h"

static volatile sig_atomic_t profile, virtual_time;
static void sample(int number) {
  if (number == SIGPROF)
    profile++;
  else
    virtual_time++;
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  install(SIGPROF, sample, SA_RESTART);
  install(SIGVTALRM, sample, SA_RESTART);
  struct itimerval timer = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}}, seen;
  CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
  if (rank == 0) CHECK(setitimer(ITIMER_VIRTUAL, &timer, NULL) == 0);
  CHECK(getitimer(ITIMER_PROF, &seen) == 0 && seen.it_interval.tv_usec == 5000);
  MPI_Barrier(MPI_COMM_WORLD);
  profile = virtual_time = 0;
  // Rank 0 computes, the others wait for it.
  if (rank == 0)
    for (double start = now(); (profile < 20 || virtual_time < 5) && now() - start < 200;) {
    }
  MPI_Barrier(MPI_COMM_WORLD);
  const int mine = profile;
  setitimer(ITIMER_PROF, &off, NULL);
  setitimer(ITIMER_VIRTUAL, &off, NULL);
  CHECK(getitimer(ITIMER_PROF, &seen) == 0 && seen.it_value.tv_usec == 0);
  CHECK(rank == 0 ? mine >= 20 && virtual_time >= 5 : virtual_time == 0);
  int most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) CHECK(mine == most);
  return end();
}
