/* A rank that starts a job of its own, while the others wait: nested COMMAND. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char** argv) {
  int rank, status = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) status = system(argv[1]);
  MPI_Bcast(&status, 1, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Finalize();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
