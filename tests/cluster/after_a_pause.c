/* The last two ranks exchange a message, say so, rest for so long, and exchange one more: after_a_pause
 * SECONDS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 2; ++i) {
    if (rank == size - 2) {
      MPI_Send(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (i == 0) puts("pause"), fflush(stdout);
    } else if (rank == size - 1) {
      MPI_Recv(&value, 1, MPI_INT, size - 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&value, 1, MPI_INT, size - 2, 0, MPI_COMM_WORLD);
    }
    if (i == 0) sleep((unsigned)atoi(argv[1]));
  }
  MPI_Finalize();
  return 0;
}
