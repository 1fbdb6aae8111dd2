/* Many ranks: a token goes round all of them, and an allreduce adds up their numbers; both results are
 * checked. Then the job stands still in a barrier that rank 0 enters late, so that run.py can add up its
 * memory and see what waiting costs: rank 0 says "ready", then sleeps (argument 1: seconds). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

static double ring(int laps) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  long token = 0;
  const double start = MPI_Wtime();
  for (int lap = 0; lap < laps; ++lap) {
    if (rank != 0) MPI_Recv(&token, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token += rank;
    MPI_Send(&token, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_LONG, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double seconds = MPI_Wtime() - start;
  if (rank == 0 && token != (long)laps * size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
  return seconds / laps / size;
}

static double allreduce(int times) {
  long mine = rank, all = 0;
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;
  if (all != (long)size * (size - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
  return seconds / times;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD); /* all ranks are there */
  ring(1);
  const double hop = ring(3);
  allreduce(1);
  const double reduction = allreduce(3);
  if (rank == 0) {
    printf("ring-hop 8 %.6g\nallreduce 8 %.6g\nready\n", hop, reduction);
    fflush(stdout);
    sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
