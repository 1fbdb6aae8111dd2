// Rank 2 sends after rank 1 has told it to, so that rank 1's message is taken to be there once rank 2's is.
#include "explore.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world();
  int value = 100 * rank;
  if (rank == 0) {
    int values[2] = {0, 0}, done = 0;
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i) MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    while (!done) MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
#ifdef MENDED
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#endif
    EXPECT(values[0] == 100, "rank 2's message has come, and of rank 1's there is %d", values[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_INT, 2, 1, MPI_COMM_WORLD);
  } else if (rank == 2) {
    MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
