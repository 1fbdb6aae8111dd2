/* Rank 1 calls MPI_Init so much later than the others. Until then rank 0 can begin a send to it, and send to
   rank 2: latecomer SECONDS. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const double seconds = atof(argv[1]);
  const char* const place = getenv("PMI_RANK");
  int rank, value = 1, bad = 0;
  if (place != NULL && atoi(place) == 1) usleep((useconds_t)(seconds * 1e6));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin = MPI_Wtime();
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 2 && MPI_Wtime() - begin > seconds / 2) {
    fprintf(stderr, "rank 2 has waited for %.1f s\n", MPI_Wtime() - begin);
    bad = 1;
  }
  MPI_Finalize();
  return bad;
}
