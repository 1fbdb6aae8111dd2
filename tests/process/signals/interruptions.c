// A signal ends one call: the one during which its handler runs. On a busy machine a thread may handle a signal before it is told that
// there is one; what tells it must not end its next call.
// For: programs that count the time they have slept, or take EINTR for the alarm that they have set.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

enum { TURNS = 200 };

static volatile sig_atomic_t flag;
static void set(int number) {
  (void)number;
  flag++;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  install(SIGALRM, set, 0);
  const int sleeper = rank % 4 == 0;
  struct itimerval timer = {{0, 2000}, {0, 2000}};
  if (sleeper) setitimer(ITIMER_REAL, &timer, NULL);
  for (int turn = 0; sleeper && turn < TURNS; ++turn) {
    const struct timespec wanted = {20, 0};
    const int before = flag;
    const int result = nanosleep(&wanted, NULL);
    CHECK(result == -1 && errno == EINTR && flag > before);
  }
  timer = (struct itimerval){{0, 0}, {0, 0}};
  if (sleeper) setitimer(ITIMER_REAL, &timer, NULL);
  // The others keep the cores busy.
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; !done;) {
    for (volatile int i = 0; i < 100000; ++i) {
    }
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  return end();
}
