/* Rank 0 sends more than the network takes to rank 1, which computes for so long: late SECONDS. */
#include <mpi.h>
#include <stdlib.h>

enum { kMessages = 2000, kBytes = 8000 };

int main(int argc, char** argv) {
  static char buffer[kBytes];
  int rank;
  const double seconds = atof(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  while (rank == 1 && MPI_Wtime() - begin < seconds) continue;
  for (int i = 0; i < kMessages; ++i) {
    if (rank == 0) MPI_Send(buffer, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(buffer, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
