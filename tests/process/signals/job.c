// Signals to the job: every rank gets those that mpiexec passes on, and does with them what it wants.
// For: checkpoints on SIGUSR1 or SIGTERM before a time limit (Slurm's --signal), LAMMPS- and GROMACS-like
// handlers that set a flag and let the loop come to its end.
#include <pthread.h>

#include "check.h"

static volatile sig_atomic_t got[65];
static void count(int number) { got[number]++; }
static void* wait_for_it(void* set) {
  int number = 0;
  sigwait(set, &number);
  got[number]++;
  return NULL;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* mode = argc > 1 ? argv[1] : "each";
  const int by_thread = strcmp(mode, "thread") == 0;
  const int mine = strcmp(mode, "each") == 0 || strcmp(mode, "compute") == 0 || strcmp(mode, "wait") == 0 ||
                   by_thread || rank == 0;
  int number = SIGUSR1;
  if (argc > 2) number = atoi(argv[2]);
  sigset_t all;
  pthread_t waiter;
  sigfillset(&all);
  if (by_thread) {  // blocked everywhere, and no handler
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_create(&waiter, NULL, wait_for_it, &all);
  } else if (strcmp(mode, "default") != 0)
    signal(number, mine ? count : SIG_IGN);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("ready\n");
    fflush(stdout);
  }
  int stop = 0;
  if (strcmp(mode, "compute") == 0)
    while (!got[number]) {
    }
  if (strcmp(mode, "wait") == 0) {  // all but the first in MPI
    if (rank == 0) {
      while (!got[number]) pause();
      usleep(1000000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(got[number] == 1);
    return end();
  }
  for (int i = 0; !stop && i < 6000; ++i) {
    int flag = got[number] != 0;
    if (strcmp(mode, "rank0") == 0 || strcmp(mode, "default") == 0) {
      stop = flag;
      MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } else {
      MPI_Allreduce(&flag, &stop, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
    usleep(10000);
  }
  CHECK(stop);
  CHECK(got[number] == (mine ? 1 : 0));
  if (by_thread) pthread_join(waiter, NULL);
  return end();
}
