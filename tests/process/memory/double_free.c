// A block is freed twice: the C library tells of it and ends the rank. With --check ranks that share a
// process have its allocator, too.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* const block = malloc(100);
  char* volatile again = block;
  free(block);
  if (rank == 1) free(again);
  MPI_Finalize();
}
