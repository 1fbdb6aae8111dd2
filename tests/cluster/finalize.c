/* All ranks but rank 0 are in MPI_Finalize, and wait for it, for so long: finalize SECONDS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    usleep(200000);
    puts("they wait");
    fflush(stdout);
    sleep((unsigned)atoi(argv[1]));
  }
  MPI_Finalize();
  return 0;
}
