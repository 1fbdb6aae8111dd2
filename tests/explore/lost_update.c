// A server keeps a number. Clients read it and write it back with one more: another one may do so in between.
#include "explore.h"

enum { kRead, kWrite, kAdd, kAnswer };

static void serve(int clients) {
  int number = 0;
#ifdef MENDED
  int left = clients;
#else
  int left = 2 * clients;
#endif
  for (; left > 0; --left) {
    int value;
    MPI_Status from;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &from);
    if (from.MPI_TAG == kRead) MPI_Send(&number, 1, MPI_INT, from.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
    if (from.MPI_TAG == kWrite) number = value;
    if (from.MPI_TAG == kAdd) number += value;
  }
  EXPECT(number == clients, "%d updates have made %d", clients, number);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in_world();
  if (rank == 0) {
    serve(size_of_world() - 1);
  } else {
    int number = 1;
    work(2 * (rank - 1));
#ifdef MENDED
    MPI_Send(&number, 1, MPI_INT, 0, kAdd, MPI_COMM_WORLD);
#else
    MPI_Send(NULL, 0, MPI_INT, 0, kRead, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++number;
    MPI_Send(&number, 1, MPI_INT, 0, kWrite, MPI_COMM_WORLD);
#endif
  }
  MPI_Finalize();
  return 0;
}
