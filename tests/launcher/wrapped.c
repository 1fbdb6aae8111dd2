/* A program that a wrapper starts. Meets the others some times, each time after one of them has slept, and
 * prints its rank and what it has as LD_PRELOAD. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int late = 0; late < size; ++late) {
    if (rank == late) usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const char* const preload = getenv("LD_PRELOAD");
  printf("%d %s\n", rank, preload != NULL ? preload : "nothing");
  return MPI_Finalize();
}
