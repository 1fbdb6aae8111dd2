// All threads of a rank block SIGTERM, and it never ends. For: mpiexec, which has been asked to end the job.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  MPI_Init(&argc, &argv);
  printf("begun\n");
  fflush(stdout);
  for (;;) sleep(100);
}
