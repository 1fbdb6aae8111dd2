/* Messages a second: rank i keeps 64 sends of 8 bytes in flight to rank i + size/2, which answers each window
 * with one message. */
#include "measure.h"

enum { kWindow = 64 };

static void batch(int iterations, size_t bytes) {
  static char data[kWindow][8];
  const int half = size / 2, count = (int)bytes;
  if (rank >= 2 * half) return;
  MPI_Request requests[kWindow];
  for (int i = 0; i < iterations; ++i) {
    if (rank < half) {
      for (int w = 0; w < kWindow; ++w)
        MPI_Isend(data[w], count, MPI_BYTE, rank + half, 0, MPI_COMM_WORLD, &requests[w]);
      MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
      MPI_Recv(NULL, 0, MPI_BYTE, rank + half, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      for (int w = 0; w < kWindow; ++w)
        MPI_Irecv(data[w], count, MPI_BYTE, rank - half, 0, MPI_COMM_WORLD, &requests[w]);
      MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
      MPI_Send(NULL, 0, MPI_BYTE, rank - half, 1, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  measure("rate", 8, kWindow, batch);
  MPI_Finalize();
  return 0;
}
