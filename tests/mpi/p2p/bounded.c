/* Messages that no receive waits for take a bounded amount of memory where they arrive, whatever their size:
 * of many, most stay with their sender. Once they have been received, the next ones go ahead again. */
#include "check.h"

/* What the receiver may hold, and what may lie in between: lanes, staging buffers. */
enum { BOUND = 16 << 20, BETWEEN = 8 << 20, ALL = 40 << 20 };

static void flood(int rank, int receiver, int bytes, char* buffer) {
  const int messages = ALL / bytes;
  int token = 0, ended = 0, last;
  if (rank == 0) {
    MPI_Request* const requests = malloc(sizeof(MPI_Request) * (size_t)messages);
    int* const which = malloc(sizeof(int) * (size_t)messages);
    for (int i = 0; i < messages; ++i)
      MPI_Isend(buffer, bytes, MPI_BYTE, receiver, 1, MPI_COMM_WORLD, &requests[i]);
    /* Behind all of these. The answer: they have come, or have been announced. */
    MPI_Send(&token, 1, MPI_INT, receiver, 2, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, receiver, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    do {
      MPI_Testsome(messages, requests, &last, which, MPI_STATUSES_IGNORE);
      if (last != MPI_UNDEFINED) ended += last;
    } while (last != MPI_UNDEFINED && last > 0);
    if ((long)ended * bytes > BOUND + BETWEEN)
      CHECK_FAILED("%d of %d messages of %d bytes have gone to a rank that does not receive", ended, messages,
                   bytes);
    MPI_Send(&token, 1, MPI_INT, receiver, 4, MPI_COMM_WORLD);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    free(which);
    free(requests);
  } else if (rank == receiver) {
    MPI_Recv(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i) {
      memset(buffer, 0, (size_t)bytes);
      MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQ(buffer[0], 7);
      CHECK_EQ(buffer[bytes - 1], 7);
    }
  }
}

int main(int argc, char** argv) {
  static const int sizes[] = {4000, 60000, 20000};
  static char buffer[60000];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memset(buffer, 7, sizeof buffer);
  for (int i = 0; i < 3; ++i) {
    flood(rank, size - 1, sizes[i], buffer);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return check_result();
}
