// Numbers are put together in the order in which they come, and the operation is not commutative.
#include "explore.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world(), size = size_of_world();
  if (rank == 0) {
    long number = 0, expected = 0;
    for (int i = 1; i < size; ++i) {
#ifdef MENDED
      const int source = i;
#else
      const int source = MPI_ANY_SOURCE;
#endif
      int digit;
      MPI_Request request;
      MPI_Irecv(&digit, 1, MPI_INT, source, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      number = 10 * number + digit;
      expected = 10 * expected + i;
    }
    EXPECT(number == expected, "%ld instead of %ld", number, expected);
  } else {
    work(rank - 1);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
