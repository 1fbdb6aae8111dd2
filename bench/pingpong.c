/* Half the round trip between rank i and rank i + size/2, all pairs at once: with two ranks the usual
 * ping-pong. */
#include "measure.h"

static char* buffer;

static void batch(int iterations, size_t bytes) {
  const int half = size / 2, count = (int)bytes;
  if (rank >= 2 * half) return;
  const int peer = rank < half ? rank + half : rank - half;
  for (int i = 0; i < iterations; ++i) {
    if (rank < half) {
      MPI_Send(buffer, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  static const size_t sizes[] = {8, 1 << 10, 8 << 10, 64 << 10, 512 << 10, 4 << 20, 16 << 20};
  buffer = new_buffer(16 << 20);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) measure("pingpong", sizes[i], 2, batch);
  free(buffer);
  MPI_Finalize();
  return 0;
}
