/* Every rank writes so many lines, flushes nothing, and stays. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int line = 0; line < atoi(argv[1]); ++line) printf("line %d of rank %d\n", line, rank);
  sleep(100);
  MPI_Finalize();
  return 0;
}
