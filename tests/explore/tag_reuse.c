// In each round rank 0 takes two messages of any tag for those of this round; the tags of rounds repeat.
#include "explore.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world();
  for (int round = 0; round < 4; ++round) {
    if (rank == 0) {
      for (int i = 1; i <= 2; ++i) {
        int value;
        MPI_Status status;
#ifdef MENDED
        MPI_Recv(&value, 1, MPI_INT, i, round % 2, MPI_COMM_WORLD, &status);
#else
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
#endif
        EXPECT(value == round, "round %d: rank %d sends what is for round %d", round, status.MPI_SOURCE,
               value);
      }
    } else if (rank <= 2) {
      MPI_Send(&round, 1, MPI_INT, 0, round % 2, MPI_COMM_WORLD);
      work(2);
    }
  }
  MPI_Finalize();
  return 0;
}
