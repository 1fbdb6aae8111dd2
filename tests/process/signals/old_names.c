// The older names: System V's and BSD's.
// For: programs written before POSIX, and ports of them (NetHack, tcsh, Fortran run-time libraries'
// signal()).
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/time.h>

#include "check.h"

int sigblock(int mask);
int sigsetmask(int mask);
int siggetmask(void);

static volatile sig_atomic_t got;
static void count(int number) {
  (void)number;
  got++;
}

static void after(int milliseconds) {
  struct itimerval timer = {{0, 0}, {0, milliseconds * 1000}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  struct sigaction seen;
  if (rank % 2 == 0) sigignore(SIGUSR1);
  CHECK(sigaction(SIGUSR1, NULL, &seen) == 0 && seen.sa_handler == (rank % 2 == 0 ? SIG_IGN : SIG_DFL));
  CHECK(sigset(SIGUSR1, count) == (rank % 2 == 0 ? SIG_IGN : SIG_DFL));
  MPI_Barrier(MPI_COMM_WORLD);
  raise(SIGUSR1);
  CHECK(got == 1);
  CHECK(sighold(SIGUSR1) == 0);
  raise(SIGUSR1);
  CHECK(got == 1 && sigset(SIGUSR1, SIG_HOLD) == SIG_HOLD);
  CHECK(sigrelse(SIGUSR1) == 0 && got == 2);
  // One-shot.
  CHECK(sysv_signal(SIGUSR2, count) == SIG_DFL);
  raise(SIGUSR2);
  CHECK(got == 3 && sigaction(SIGUSR2, NULL, &seen) == 0 && seen.sa_handler == SIG_DFL);
  CHECK(ssignal(SIGUSR2, count) == SIG_DFL && gsignal(SIGUSR2) == 0 && got == 4);
  CHECK(sigblock(sigmask(SIGUSR2)) == 0 && siggetmask() == sigmask(SIGUSR2));
  raise(SIGUSR2);
  CHECK(got == 4 && sigsetmask(0) == sigmask(SIGUSR2) && got == 5);
  // read() that a signal ends, in every other rank, and one that it does not end.
  int ends[2];
  CHECK(pipe(ends) == 0);
  char byte = 0;
  CHECK(signal(SIGALRM, count) == SIG_DFL);
  CHECK(siginterrupt(SIGALRM, rank % 2) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  got = 0;
  after(100);
  if (rank % 2 == 1) {
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && got == 1);
  } else {
    if (fork() == 0) {
      usleep(1500000);
      (void)!write(ends[1], "x", 1);
      _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x' && got == 1);
  }
  close(ends[0]);
  close(ends[1]);
  return end();
}
