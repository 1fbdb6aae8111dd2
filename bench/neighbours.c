/* Halo exchange on a grid of two dimensions that goes around: with a request for each message, and by
 * neighbourhood collectives. */
#include "measure.h"

enum { kNeighbours = 4, kLargest = 1 << 10 };

static MPI_Comm grid;
static int peers[kNeighbours];
static char *out, *in;

static void by_requests(int iterations, size_t bytes) {
  const int count = (int)bytes;
  for (int i = 0; i < iterations; ++i) {
    MPI_Request requests[2 * kNeighbours];
    for (int n = 0; n < kNeighbours; ++n)
      MPI_Irecv(in + n * bytes, count, MPI_BYTE, peers[n], n, grid, &requests[n]);
    for (int n = 0; n < kNeighbours; ++n) /* what goes up comes from below */
      MPI_Isend(out + n * bytes, count, MPI_BYTE, peers[n], n ^ 1, grid, &requests[kNeighbours + n]);
    MPI_Waitall(2 * kNeighbours, requests, MPI_STATUSES_IGNORE);
  }
}

static void by_alltoall(int iterations, size_t bytes) {
  const int count = (int)bytes;
  for (int i = 0; i < iterations; ++i) MPI_Neighbor_alltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, grid);
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  const size_t sizes[] = {64, kLargest};
  int dims[2] = {0, 0};
  const int around[2] = {1, 1};
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &grid);
  for (int d = 0; d < 2; ++d) MPI_Cart_shift(grid, d, 1, &peers[2 * d], &peers[2 * d + 1]);
  out = new_buffer(kNeighbours * kLargest);
  in = new_buffer(kNeighbours * kLargest);
  for (int i = 0; i < 2; ++i) {
    measure("requests", sizes[i], 1, by_requests);
    measure("neighbor_alltoall", sizes[i], 1, by_alltoall);
  }
  free(out);
  free(in);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
