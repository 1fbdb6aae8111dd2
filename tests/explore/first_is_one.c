// The first message is taken for rank 1's, which has least to do.
#include "explore.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world(), size = size_of_world();
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      int value;
      MPI_Status status;
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
#ifdef MENDED
      const int from = status.MPI_SOURCE;
#else
      const int from = i;
#endif
      EXPECT(value == 100 * from, "%d from rank %d", value, from);
    }
  } else {
    work(rank - 1);
    const int value = 100 * rank;
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
