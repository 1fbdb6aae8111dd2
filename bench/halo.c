/* Halo exchange in one dimension: every rank exchanges a message with both neighbours, and the last rank has
 * the first one as a neighbour (periodic, so that all ranks do the same). */
#include "measure.h"

static char *from_left, *from_right, *to_left, *to_right;

static void exchange(int iterations, size_t bytes) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size, count = (int)bytes;
  for (int i = 0; i < iterations; ++i) {
    MPI_Request requests[4];
    MPI_Irecv(from_left, count, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_right, count, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(to_right, count, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(to_left, count, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  const size_t sizes[] = {64, 1 << 10, 64 << 10};
  char** const buffers[] = {&from_left, &from_right, &to_left, &to_right};
  for (int i = 0; i < 4; ++i) *buffers[i] = new_buffer(64 << 10);
  for (int i = 0; i < 3; ++i) measure("halo", sizes[i], 1, exchange);
  for (int i = 0; i < 4; ++i) free(*buffers[i]);
  MPI_Finalize();
  return 0;
}
