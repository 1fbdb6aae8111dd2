// Stands for programs whose core files are looked at afterwards, as clusters' users do with `ulimit -c
// unlimited` in the job's script. The rank in the second argument ends in the way that the first one names.
// Right: mpiexec's report and code as ever, and a core file.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int culprit_rank = -1;  // for a debugger

static void __attribute__((noinline)) culprit(const char* how) {
  volatile int zero = 0;
  if (strcmp(how, "segv") == 0) *(volatile int*)(long)zero = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "fpe") == 0) raise(SIGFPE);
  zero = 1;  // so that this function is on the stack
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2 && rank == atoi(argv[2])) {
    culprit_rank = rank;
    culprit(argv[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
