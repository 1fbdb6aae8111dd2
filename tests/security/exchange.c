/* For each line of rank 0's standard input all ranks exchange data with all others, and rank 0 says "exchanged". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kEach = 50000 }; /* integers: more than goes without an announcement */

int main(int argc, char** argv) {
  int rank, size, goes_on = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* ours = malloc(sizeof(int) * kEach * (size_t)size);
  int* theirs = malloc(sizeof(int) * kEach * (size_t)size);
  if (rank == 0) {
    puts("begun");
    fflush(stdout);
  }
  for (int round = 0; goes_on; ++round) {
    char line[64];
    if (rank == 0) goes_on = fgets(line, sizeof line, stdin) != NULL;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < kEach * size; ++i) ours[i] = rank * 1000003 + i / kEach * 17 + round + i % kEach;
    MPI_Alltoall(ours, kEach, MPI_INT, theirs, kEach, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < kEach * size; ++i)
      if (theirs[i] != i / kEach * 1000003 + rank * 17 + round + i % kEach) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && goes_on) {
      puts("exchanged");
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
