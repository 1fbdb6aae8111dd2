// Numbers of descriptors that one rank closes are at once those of another: rank 0 opens and closes files by
// fopen() and fclose(), while rank 1 writes by duplicates of descriptor 1. Each of its lines has its tag.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  enum { kLines = 3000 };
  int rank, over = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    while (!over) {
      for (int i = 0; i < 20; ++i) {
        FILE* const file = fopen("/dev/null", "w");
        if (file != NULL) fclose(file);
      }
      MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
  } else if (rank == 1) {
    for (int i = 0; i < kLines; ++i) {
      const int copy = dup(1);
      if (copy < 0 || write(copy, "whole\n", 6) != 6) MPI_Abort(MPI_COMM_WORLD, 1);
      close(copy);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
