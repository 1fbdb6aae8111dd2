// What handlers do in the middle of MPI traffic: they sleep, write, raise other signals, and the ranks'
// messages arrive all the same, with many ranks to a core.
// For: samplers and progress reporters in communicating programs.
#include <sys/time.h>

#include "check.h"

static volatile sig_atomic_t got, nested;
static void count(int number) {
  (void)number;
  nested++;
}
static void work(int number) {
  (void)number;
  got++;
  usleep(200);
  raise(SIGUSR1);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  install(SIGALRM, work, SA_RESTART);
  install(SIGUSR1, count, SA_RESTART);
  struct itimerval timer = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
  if (rank % 3 != 2) setitimer(ITIMER_REAL, &timer, NULL);
  for (int i = 0; i < 1000; ++i) {
    int all = 0, mine = i + rank, theirs = -1;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size * i + size * (size - 1) / 2);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Sendrecv(&mine, 1, MPI_INT, to, 1, &theirs, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(theirs == i + from);
    for (volatile int step = 0; step < 2000; ++step) {
    }
  }
  for (int i = 0; i < 100000 && rank % 3 != 2 && got == 0; ++i) usleep(1000);
  setitimer(ITIMER_REAL, &off, NULL);
  CHECK(rank % 3 == 2 ? got == 0 : got > 0);
  usleep(20000);
  CHECK(nested == got);
  return end();
}
