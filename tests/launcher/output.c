/* Every rank writes the same lines and one of its own, one of them in two pieces with a flush between; with
   an argument rank 1 fails behind that, in the middle of a line. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  puts("begin");
  printf("in two ");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  puts("pieces");
  printf("rank %d\n", rank);
  fputs("an error\n", stderr);
  fflush(NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && rank == 1) {
    printf("last words");
    fflush(stdout);
    exit(3);
  }
  if (argc > 1) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  printf("end");
  return 0;
}
