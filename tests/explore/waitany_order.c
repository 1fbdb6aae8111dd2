// The request that was started first is taken for the one that MPI_Waitany finds first.
#include "explore.h"

enum { kMost = 16 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world(), senders = size_of_world() - 1;
  if (rank == 0) {
    int values[kMost] = {0};
    MPI_Request requests[kMost];
    for (int i = 0; i < senders; ++i)
      MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
    for (int turn = 0; turn < senders; ++turn) {
      int found;
      MPI_Waitany(senders, requests, &found, MPI_STATUS_IGNORE);
#ifndef MENDED
      found = turn;
#endif
      EXPECT(values[found] == 100 + found, "turn %d: %d", turn, values[found]);
    }
  } else {
    const int value = 99 + rank;
    work(rank);
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
