// Each rank has its own alarm() and ITIMER_REAL: the handler runs at the rank's own time, wherever the rank
// is by then: computing, polling, waiting in MPI, asleep; and may leave by siglongjmp().
// For: time limits of solvers and test harnesses (alarm and siglongjmp), checkpoint intervals (a flag that
// SIGALRM sets), sampling profilers by ITIMER_REAL, Perl's and Python's alarm().
#include <errno.h>
#include <setjmp.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

static volatile sig_atomic_t flag;
static sigjmp_buf place;
static void set(int number) {
  (void)number;
  flag++;
}
static void leave(int number) {
  (void)number;
  siglongjmp(place, 1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void after(double seconds, double interval) {
  struct itimerval timer = {{(time_t)interval, (suseconds_t)((interval - (time_t)interval) * 1e6)},
                            {(time_t)seconds, (suseconds_t)((seconds - (time_t)seconds) * 1e6)}};
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static int is_about(double time, double wanted) { return time > wanted - 0.01 && time < wanted + 10; }

static void own_times(void) {
  install(SIGALRM, set, 0);
  flag = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  after(0.1 + 0.2 * rank, 0);
  double seen = -1;
  while (now() - start < 0.5 + 0.2 * size || (!flag && now() - start < 20)) {
    int found;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (flag && seen < 0) seen = now() - start;
  }
  CHECK(flag == 1);
  CHECK(is_about(seen, 0.1 + 0.2 * rank));
}

/// No call of MPI, no system call.
static void computing(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  flag = 0;
  const double start = now();
  after(0.1, 0);
  while (!flag) {
  }
  CHECK(is_about(now() - start, 0.1));
}

static void waiting_in_mpi(void) {
  flag = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  int what = rank;
  if (rank == 0) {
    for (double start = now(); now() - start < 1.5;) {
    }
    for (int other = 1; other < size; ++other) MPI_Send(&what, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
  } else {
    after(0.1, 0);
    MPI_Recv(&what, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(flag == 1 && what == 0);
  }
  // All wait for one another, but for rank 0, whose alarm lets it go on.
  flag = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank != 0) MPI_Irecv(&what, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
  if (rank == 0) {
    after(0.1, 0);
    while (!flag) pause();
    for (int other = 1; other < size; ++other) MPI_Send(&what, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void asleep(void) {
  flag = 0;
  double start = now();
  after(0.1, 0);
  CHECK(sleep(100) >= 80 && flag == 1 && is_about(now() - start, 0.1));
  struct timespec wanted = {100, 0}, left = {0, 0};
  after(0.1, 0);
  CHECK(nanosleep(&wanted, &left) == -1 && errno == EINTR && left.tv_sec >= 80 && left.tv_sec < 100 && flag == 2);
  after(0.1, 0);
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, &left) == EINTR && left.tv_sec >= 80 && left.tv_sec < 100);
  after(0.1, 0);
  CHECK(usleep(20000000) == -1 && errno == EINTR);
  after(0.1, 0);
  CHECK(pause() == -1 && errno == EINTR && flag == 5);
  // A signal that is ignored ends no sleep.
  signal(SIGALRM, SIG_IGN);
  start = now();
  after(0.05, 0);
  CHECK(usleep(200000) == 0 && now() - start >= 0.2);
  install(SIGALRM, set, 0);
}

static void leaving(void) {
  install(SIGALRM, leave, 0);
  volatile int laps = 0;
  for (volatile int turn = 0; turn < 3; ++turn) {
    after(0.05, 0);
    if (sigsetjmp(place, 1) == 0)
      for (;;) laps++;
  }
  CHECK(laps > 0);
  volatile int out = 0;
  after(0.05, 0);
  if (sigsetjmp(place, 1) == 0)
    sleep(100);
  else
    out++;
  after(0.05, 0);
  if (sigsetjmp(place, 1) == 0)
    pause();
  else
    out++;
  sigset_t all, none, seen;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_BLOCK, &all, &seen);
  CHECK(!sigismember(&seen, SIGALRM));  // siglongjmp() has put it back
  after(0.05, 0);
  if (sigsetjmp(place, 1) == 0)
    sigsuspend(&none);
  else
    out++;
  sigprocmask(SIG_SETMASK, &none, &seen);
  CHECK(sigismember(&seen, SIGALRM) == 1 && out == 3);
}

static void sampling(void) {
  install(SIGALRM, set, SA_RESTART);
  MPI_Barrier(MPI_COMM_WORLD);
  flag = 0;
  if (rank % 2 == 0) after(0.02, 0.02);
  int sum = 0;
  for (const double start = now();;) {
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size);
    // All have to see the end together.
    int over = now() - start >= 0.5 && (rank % 2 != 0 || flag >= 5 || now() - start >= 20), are_all = 0;
    MPI_Allreduce(&over, &are_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    sum += all;
    if (are_all) break;
  }
  struct itimerval timer = {{0, 0}, {0, 0}}, left;
  CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_interval.tv_usec == (rank % 2 == 0 ? 20000 : 0));
  setitimer(ITIMER_REAL, &timer, NULL);
  CHECK(rank % 2 == 0 ? flag >= 5 : flag == 0);
  CHECK(alarm(100) == 0 && alarm(0) >= 80);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  own_times();
  computing();
  waiting_in_mpi();
  asleep();
  leaving();
  sampling();
  return end();
}
