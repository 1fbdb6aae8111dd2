/* Rank 0 asks for a name and answers; rank 1 waits for it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  char name[100] = "";
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("name? ");
    fflush(stdout);
    if (scanf("%99s", name) != 1) return 1;
    printf("hello %s\n", name);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
