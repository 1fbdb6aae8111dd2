/* MPI for units.f90. */
#include <mpi.h>
#include <stdio.h>

int start_mpi(void) {
  MPI_Init(NULL, NULL);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void wait_for_all(void) { MPI_Barrier(MPI_COMM_WORLD); }

int finish_mpi(int wrong) {
  int all = 0, rank, size;
  if (wrong != 0) fprintf(stderr, "%d things are wrong\n", wrong);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) printf("%d ranks, %d failures\n", size, all);
  MPI_Finalize();
  return all;
}
