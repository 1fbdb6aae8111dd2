/* A program that is linked to an interpreter of Python, an old one, and never runs it. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  for (;;) sleep(600);
}
