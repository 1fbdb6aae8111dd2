/* Ranks that never stop talking: messages of all sizes, collectives, and requests in flight. Whoever started
 * them ends them; if nobody does, they give up and say so. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLongest = 1 << 20 };
static const double kPatience = 150; /* seconds */

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* out = calloc(1, kLongest);
  char* in = calloc(1, kLongest);
  MPI_Barrier(MPI_COMM_WORLD); /* all have begun */
  if (rank == 0 && puts("busy") < 0) return 1;
  fflush(stdout);
  const double begin = MPI_Wtime();
  for (int round = 0;; ++round) {
    const int bytes = 1 << (round % 21);
    for (int distance = 1; distance < size; ++distance) {
      MPI_Request both[2];
      MPI_Irecv(in, bytes, MPI_CHAR, (rank + size - distance) % size, 1, MPI_COMM_WORLD, &both[0]);
      MPI_Isend(out, bytes, MPI_CHAR, (rank + distance) % size, 1, MPI_COMM_WORLD, &both[1]);
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    int over = MPI_Wtime() - begin > kPatience, any = 0;
    MPI_Allreduce(&over, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) break;
    MPI_Bcast(in, bytes, MPI_CHAR, round % size, MPI_COMM_WORLD);
  }
  fprintf(stderr, "rank %d: nobody has ended this job\n", rank);
  MPI_Finalize();
  return 98;
}
