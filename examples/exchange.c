/* A mistake that is easily made: rank 0 sends with tag 8 what rank 1 receives with tag 7. Any MPI library
   hangs; Clump's mpiexec says where each rank waits, and for what, and ends the job.       usage: exchange */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double value = rank, sum = 0;
  if (rank == 0 && size > 1) MPI_Send(&value, 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
