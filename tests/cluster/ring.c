/* Every rank sends to the next one and receives from the one before, for so long: ring SECONDS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size, token = 0, goes_on = 1;
  const double seconds = atof(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double begin = MPI_Wtime();
  for (long round = 0; goes_on; ++round) {
    int sent = rank == 0 ? MPI_Wtime() - begin < seconds : token;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &token, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    goes_on = round < size || token != 0;
    if (rank == 0 && round == size) {
      puts("begun");
      fflush(stdout);
    }
    if (round < size) token = 1; /* what rank 0 says takes a round to get to the last one */
  }
  MPI_Finalize();
  return 0;
}
