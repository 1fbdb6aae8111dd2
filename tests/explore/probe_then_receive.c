// What is probed for is one message, and what is received may be another one, which is longer.
#include "explore.h"

#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world(), size = size_of_world();
  if (rank == 0) {
    for (int left = size - 1; left > 0;) {
      int there, count;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, &status);
      if (!there) continue;
      MPI_Get_count(&status, MPI_INT, &count);
      int* const values = calloc((size_t)count, sizeof(int)); /* what is told is the same each time */
#ifdef MENDED
      const int source = status.MPI_SOURCE;
#else
      const int source = MPI_ANY_SOURCE;
#endif
      MPI_Recv(values, count, MPI_INT, source, 0, MPI_COMM_WORLD, &status);
      EXPECT(values[count - 1] == status.MPI_SOURCE, "%d from rank %d", values[count - 1], status.MPI_SOURCE);
      free(values);
      --left;
    }
  } else {
    int values[64];
    for (int i = 0; i < rank * 4; ++i) values[i] = rank;
    MPI_Send(values, rank * 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
