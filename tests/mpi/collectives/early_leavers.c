/* Ranks that are done with a communicator, and have freed it, before others have called anything on it: what
   it had must go to nobody else twice. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum { kBytes = 8000 }; /* more than takes part in a meeting, and few enough to be sent at once */

int main(int argc, char** argv) {
  CHECK_OK(MPI_Init(&argc, &argv));
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* bytes = calloc(kBytes, 1);
  for (int round = 0; round < 5; ++round) {
    MPI_Comm pair;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair));
    if (rank % 2 == 1) usleep(3000);
    CHECK_OK(MPI_Bcast(bytes, kBytes, MPI_BYTE, 0, pair));
    CHECK_OK(MPI_Comm_free(&pair));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* If two pairs have something in common now, they are in each other's way. */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair));
    int members;
    MPI_Comm_size(pair, &members);
    for (int i = 0; i < 200; ++i) {
      int sum = -1;
      const int mine = 1000 * (rank / 2) + i;
      CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, pair));
      CHECK_EQ(sum, members * mine);
      if (rank / 2 % 2 == 0) CHECK_OK(MPI_Barrier(pair));
    }
    CHECK_OK(MPI_Comm_free(&pair));
  }
  free(bytes);
  CHECK_OK(MPI_Finalize());
  return check_result();
}
