/* What fresh memory costs: each rank allocates blocks until it has so many MB, and writes each once. Arguments:
   MB, then sizes of a block in bytes; memory is not freed, so sizes share the heap. Rank 0 prints a line
   `first_touch BYTES SECONDS` for each size, seconds for a page of 4 KB of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double seconds_to_touch(size_t bytes, size_t block) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (size_t done = 0; done < bytes; done += block) {
    char* const fresh = malloc(block);
    if (fresh == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(fresh, 1, block);
  }
  const double mine = MPI_Wtime() - begin;
  double slowest = 0;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return slowest;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) {
    fprintf(stderr, "usage: %s MB BYTES...\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t bytes = strtoul(argv[1], NULL, 10) << 20;
  for (int i = 2; i < argc; ++i) {
    const size_t block = strtoul(argv[i], NULL, 10);
    const double seconds = seconds_to_touch(bytes, block);
    if (rank == 0) printf("first_touch %zu %.9g\n", block, seconds / ((double)bytes / 4096));
  }
  MPI_Finalize();
  return 0;
}
