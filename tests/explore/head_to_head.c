// All send to the next one before they receive: it works as long as the messages are copied somewhere.
#include "explore.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world(), size = size_of_world();
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  double mine[16] = {rank}, theirs[16];
  for (int round = 0; round < 3; ++round) {
#ifdef MENDED
    MPI_Sendrecv(mine, 16, MPI_DOUBLE, next, round, theirs, 16, MPI_DOUBLE, previous, round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#else
    MPI_Send(mine, 16, MPI_DOUBLE, next, round, MPI_COMM_WORLD);
    MPI_Recv(theirs, 16, MPI_DOUBLE, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    EXPECT(theirs[0] == previous, "%g from rank %d", theirs[0], previous);
  }
  MPI_Finalize();
  return 0;
}
