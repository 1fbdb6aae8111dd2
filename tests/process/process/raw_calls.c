// A rank starts, ends and waits for processes by syscall(). Run with: children | exec | exit.
//
// Stands for run-time libraries and sandboxes that avoid the C library's functions. Right: as with those.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

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
  MPI_Allreduce(&bad, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("raw calls: %s\n", sum ? "WRONG" : "ok"), fflush(stdout);
  MPI_Finalize();
  if (!strcmp(mode, "exit")) syscall(SYS_exit_group, rank == 1 ? 5 : 0);
  char* words[] = {"echo", "by", "syscall", NULL};
  if (!strcmp(mode, "exec")) syscall(SYS_execve, "/bin/echo", words, environ);
  return bad != 0;
}
