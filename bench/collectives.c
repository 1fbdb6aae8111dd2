/* Barrier, broadcast, allreduce (doubles, sum) and alltoall (bytes to each rank). */
#include "measure.h"

static char *in, *out;

static void barrier(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < iterations; ++i) MPI_Barrier(MPI_COMM_WORLD);
}
/* The root goes round, so that no rank can run ahead. */
static void bcast(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) MPI_Bcast(in, (int)bytes, MPI_BYTE, i % size, MPI_COMM_WORLD);
}
static void allreduce(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Allreduce(in, out, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i)
    MPI_Alltoall(in, (int)bytes, MPI_BYTE, out, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  const size_t large = 1 << 20, block = 64 << 10;
  const size_t room = block * (size_t)size > large ? block * (size_t)size : large;
  in = new_buffer(room);
  out = new_buffer(room);
  memset(in, 0, room); /* doubles that stay finite */

  measure("barrier", 0, 1, barrier);
  const size_t sizes[] = {8, 64 << 10, large};
  for (int i = 0; i < 3; ++i) measure("bcast", sizes[i], 1, bcast);
  for (int i = 0; i < 3; ++i) measure("allreduce", sizes[i], 1, allreduce);
  const size_t blocks[] = {8, 64, 4 << 10, block};
  for (int i = 0; i < 4; ++i) measure("alltoall", blocks[i], 1, alltoall);

  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
