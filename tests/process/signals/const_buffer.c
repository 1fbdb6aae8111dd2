// Rank 0 receives into a constant. Right: the report names rank 0, although rank 1, which sends later, may be
// the one that writes there.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 300000 };

static const char constant[BYTES] = {1};

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Recv((char*)constant, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    char* const data = calloc(1, BYTES);
    usleep(50000);
    MPI_Send(data, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
