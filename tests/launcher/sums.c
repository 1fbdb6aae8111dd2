/* Reductions whose results depend on the order in which operands are combined. Prints two checksums of the
   bits of all results on all ranks: of blocking calls and of non-blocking ones. */
#include <complex.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 40000 };
static int rank, size;
static double *in, *out;
static uint64_t checksum;

/* Both factors of very different sizes, so that sums round. */
static double next_number(void) {
  static uint64_t state = 0;
  if (state == 0) state = 88172645463325252u + (uint64_t)rank * 7919;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return ((double)(state >> 11) * 0x1p-53 - 0.5) * (double)(1 << state % 23);
}

static void note(const void* data, size_t bytes) {
  const unsigned char* at = data;
  for (size_t i = 0; i < bytes; ++i) checksum = (checksum ^ at[i]) * 1099511628211u;
}

static void average(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((double*)right)[i] = (((double*)left)[i] + ((double*)right)[i]) / 2;
}

/* Ends a call: at once, or when its request is complete. */
static void end(int blocking, MPI_Request* request, const void* result, size_t bytes) {
  if (!blocking) MPI_Wait(request, MPI_STATUS_IGNORE);
  note(result, bytes);
  memset(out, 0, sizeof *out * kMost);
}

static void reduce_all(int blocking, int count, MPI_Datatype type, MPI_Op op) {
  MPI_Request request;
  int each, room = 0;
  MPI_Type_size(type, &each);
  const size_t bytes = (size_t)count * (size_t)each;
  const MPI_Comm comm = MPI_COMM_WORLD;
  for (int root = 0; root < size; root += 1 + size / 2) {
    if (blocking) MPI_Reduce(in, out, count, type, op, root, comm);
    if (!blocking) MPI_Ireduce(in, out, count, type, op, root, comm, &request);
    end(blocking, &request, out, rank == root ? bytes : 0);
  }
  if (blocking) MPI_Allreduce(in, out, count, type, op, comm);
  if (!blocking) MPI_Iallreduce(in, out, count, type, op, comm, &request);
  end(blocking, &request, out, bytes);
  if (blocking) MPI_Scan(in, out, count, type, op, comm);
  if (!blocking) MPI_Iscan(in, out, count, type, op, comm, &request);
  end(blocking, &request, out, bytes);
  if (blocking) MPI_Exscan(in, out, count, type, op, comm);
  if (!blocking) MPI_Iexscan(in, out, count, type, op, comm, &request);
  end(blocking, &request, out, rank > 0 ? bytes : 0);
  room = count / size;
  if (blocking) MPI_Reduce_scatter_block(in, out, room, type, op, comm);
  if (!blocking) MPI_Ireduce_scatter_block(in, out, room, type, op, comm, &request);
  end(blocking, &request, out, (size_t)room * (size_t)each);
  int* const counts = malloc(sizeof *counts * (size_t)size);
  for (int i = 0; i < size; ++i) counts[i] = room / (1 + i % 3);
  if (blocking) MPI_Reduce_scatter(in, out, counts, type, op, comm);
  if (!blocking) MPI_Ireduce_scatter(in, out, counts, type, op, comm, &request);
  end(blocking, &request, out, (size_t)counts[rank] * (size_t)each);
  free(counts);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = malloc(sizeof *in * kMost);
  out = malloc(sizeof *out * kMost);
  for (int i = 0; i < kMost; ++i) in[i] = next_number();
  memset(out, 0, sizeof *out * kMost);
  MPI_Op mean;
  MPI_Op_create(average, 1, &mean);
  const int counts[] = {1, 50, 400, 5000, kMost / 2};
  uint64_t sums[2];
  for (int blocking = 1; blocking >= 0; --blocking) {
    checksum = 14695981039346656037u;
    for (int i = 0; i < 5; ++i) {
      reduce_all(blocking, counts[i], MPI_DOUBLE, MPI_SUM);
      reduce_all(blocking, counts[i], MPI_C_DOUBLE_COMPLEX, MPI_SUM);
      reduce_all(blocking, counts[i], MPI_DOUBLE, mean);
    }
    uint64_t* const all = malloc(sizeof *all * (size_t)size);
    MPI_Gather(&checksum, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0) note(all, sizeof *all * (size_t)size);
    sums[blocking] = checksum;
    free(all);
  }
  if (rank == 0) printf("%016" PRIx64 " %016" PRIx64 "\n", sums[1], sums[0]);
  MPI_Op_free(&mean);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
