// A handler of a signal ends its rank by _exit() before MPI_Finalize: an error, with this code.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

static void leave(int number) {
  (void)number;
  _exit(32);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGFPE, leave);
  volatile int zero = 0;
  if (rank == 1) zero = 100 / zero;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
