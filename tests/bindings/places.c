/* Ranks that wait for each other or, with an argument, leave a communicator behind: reports name these lines. */
#include <mpi.h>

static void wait_for(int rank) {
  int number;
  MPI_Recv(&number, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* a place */
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1)
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* a place */
  else
    wait_for(1 - rank);
  MPI_Finalize();
  return 0;
}
