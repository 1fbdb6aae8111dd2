/* Stands still after MPI_Init, so that run.py can add up the memory of the job: says "ready", then sleeps
 * (argument 1: seconds). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD); /* all ranks are there */
  if (rank == 0) {
    puts("ready");
    fflush(stdout);
  }
  sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 3);
  MPI_Finalize();
  return 0;
}
