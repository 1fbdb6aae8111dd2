/* A token travels round all ranks, and everyone adds its rank to it.      usage: ring [LAPS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);

  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int laps = argc > 1 ? atoi(argv[1]) : 100;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  long token = 0;
  const double start = MPI_Wtime();
  for (int lap = 0; lap < laps; ++lap) {
    if (rank == 0) {
      MPI_Request sending;
      MPI_Isend(&token, 1, MPI_LONG, next, lap, MPI_COMM_WORLD,
                &sending); /* not blocking: alone, rank 0 is its own next */
      long arrived;
      MPI_Recv(&arrived, 1, MPI_LONG, previous, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&sending, MPI_STATUS_IGNORE);
      token = arrived;
    } else {
      MPI_Recv(&token, 1, MPI_LONG, previous, lap, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      token += rank;
      MPI_Send(&token, 1, MPI_LONG, next, lap, MPI_COMM_WORLD);
    }
  }
  const double seconds = MPI_Wtime() - start;

  int failed = 0;
  if (rank == 0) {
    const long expected = (long)laps * size * (size - 1) / 2;
    failed = token != expected;
    printf("%d laps round %d ranks: token %ld, expected %ld; %.2f microseconds a hop\n", laps, size, token,
           expected, 1e6 * seconds / laps / size);
  }
  MPI_Finalize();
  return failed;
}
