/* Errors whose handler is MPI_ERRORS_ARE_FATAL; the argument says which. */
#include <mpi.h>
#include <string.h>

int main(int argc, char** argv) {
  int value = 0;
  if (strcmp(argv[1], "early") == 0) MPI_Comm_rank(MPI_COMM_WORLD, &value);
  MPI_Init(&argc, &argv);
  if (strcmp(argv[1], "rank") == 0) MPI_Send(&value, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
  if (strcmp(argv[1], "port") == 0) MPI_Close_port("nothing");
  MPI_Finalize();
  if (strcmp(argv[1], "late") == 0) MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return 0;
}
