/* Rank 0 says which library this is, and how many ranks there are by their own count. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int rank, one = 1, ranks, length;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Get_library_version(version, &length);
  if (rank == 0) printf("%d ranks, %s\n", ranks, version);
  MPI_Finalize();
  return 0;
}
