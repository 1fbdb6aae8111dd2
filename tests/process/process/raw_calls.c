// A rank starts, ends and waits for processes by syscall(), and waits for signals and descriptors. Run with:
// children | waits | timer | exec | exit.
//
// Stands for run-time libraries and sandboxes that avoid the C library's functions. Right: as with those.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

// Signals, limits and descriptor 0 are the rank's: 0, or what is wrong.
static int check_waits(int rank) {
  struct rlimit limit, before;
  getrlimit(RLIMIT_NOFILE, &before);
  limit = (struct rlimit){(rlim_t)(300 + rank), before.rlim_max};
  if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL) != 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != (rlim_t)(300 + rank)) return 2;
  if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) != 0 || limit.rlim_cur != (rlim_t)(300 + rank))
    return 3;
  setrlimit(RLIMIT_NOFILE, &before);

  const unsigned long set = 1UL << (SIGUSR1 - 1);
  unsigned long pending = 0;
  const struct timespec limit_of_wait = {20, 0};
  siginfo_t info;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof set);
  raise(SIGUSR1);
  if (syscall(SYS_rt_sigpending, &pending, sizeof pending) != 0 || (pending & set) == 0) return 4;
  if (syscall(SYS_rt_sigtimedwait, &set, &info, &limit_of_wait, sizeof set) != SIGUSR1) return 5;

  int ends[2];
  if (pipe(ends) != 0) return 6;
  dup2(ends[0], 0);
  struct pollfd input = {0, POLLIN, 0};
  struct timespec none = {0, 0};
  if (syscall(SYS_ppoll, &input, 1, &none, NULL, sizeof set) != 0) return 7;
  if (write(ends[1], "1", 1) != 1 || syscall(SYS_ppoll, &input, 1, &none, NULL, sizeof set) != 1) return 8;
  return 0;
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "children";
  int rank, bad = 0, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(mode, "children")) {
    for (int i = 0; i < 2; ++i) {
      const long child = syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
      if (child == 0) {
        usleep(20000 * (unsigned)((rank + i) % 3));
        syscall(SYS_exit_group, 10 + rank);
      }
      int status = 0;
      siginfo_t info;
      struct rusage usage;
      memset(&info, 0, sizeof info);
      if (i == 0 && (syscall(SYS_wait4, -1, &status, 0, &usage) != child || WEXITSTATUS(status) != 10 + rank))
        bad = 1;
      if (i == 1 && (syscall(SYS_waitid, P_ALL, 0, &info, WEXITED, &usage) != 0 || info.si_pid != child ||
                     info.si_status != 10 + rank))
        bad = 2;
      if (bad != 0)
        printf("rank %d: %d: child %ld, status %x, siginfo of %d\n", rank, bad, child, status,
               (int)info.si_pid);
    }
    if (syscall(SYS_wait4, -1, NULL, 0, NULL) != -1 || errno != ECHILD)
      printf("rank %d: one child too many\n", rank), bad = 1;
  }
  if (!strcmp(mode, "waits") && (bad = check_waits(rank)) != 0) printf("rank %d: check %d\n", rank, bad);
  if (!strcmp(mode, "timer")) {
    timer_t timer;
    bad = syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &timer) != 0;
  }
  MPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("raw calls: %s\n", sum ? "WRONG" : "ok"), fflush(stdout);
  MPI_Finalize();
  if (!strcmp(mode, "exit")) syscall(SYS_exit_group, rank == 1 ? 5 : 0);
  char* words[] = {"echo", "by", "syscall", NULL};
  if (!strcmp(mode, "exec")) syscall(SYS_execve, "/bin/echo", words, environ);
  return bad != 0;
}
