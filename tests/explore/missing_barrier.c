// Two phases, in which rank 0 adds up what all others send. Nothing keeps a quick rank's second number out of
// the first sum.
#include "explore.h"

static int sum_of(int count) {
  int sum = 0;
  for (; count > 0; --count) {
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += value;
  }
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world(), senders = size_of_world() - 1;
  for (int phase = 1; phase <= 2; ++phase) {
    if (rank == 0) {
      const int sum = sum_of(senders);
      EXPECT(sum == phase * senders, "phase %d: the sum is %d", phase, sum);
    } else {
      MPI_Send(&phase, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
      work(2);
    }
#ifdef MENDED
    MPI_Barrier(MPI_COMM_WORLD);
#endif
  }
  MPI_Finalize();
  return 0;
}
