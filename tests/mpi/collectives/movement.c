/* Collectives that move data, with equal blocks: every root, several sizes (each algorithm is met), types
 * with gaps, in place. */
#include <time.h>

#include "buffers.h"
#include "forms.h"

static int rank, size;

static void test_bcast(int kind, int count, int root) {
  int *buffer = buffer_new(kind, count), *expected = buffer_new(kind, count);
  buffer_put(kind, expected, 0, count, root, 0);
  if (rank == root) buffer_put(kind, buffer, 0, count, root, 0);
  CHECK_OK(form_bcast(buffer, count, buffers_type[kind], root, MPI_COMM_WORLD));
  buffer_compare(kind, count, buffer, expected, "bcast");
}

/* The root describes its data by one type, the others by another. */
static void test_bcast_mixed(int elements, int root) {
  const int kind = rank == root ? kGappy : kSolid;
  const int count = rank == root ? elements : 2 * elements;
  int *buffer = buffer_new(kind, count), *expected = buffer_new(kind, count);
  buffer_put(kind, expected, 0, count, root, 0);
  if (rank == root) buffer_put(kind, buffer, 0, count, root, 0);
  CHECK_OK(form_bcast(buffer, count, buffers_type[kind], root, MPI_COMM_WORLD));
  buffer_compare(kind, count, buffer, expected, "bcast of mixed types");
}

static void test_gather(int kind, int count, int root, int in_place) {
  const int all = rank == root ? size * count : 0;
  int *mine = buffer_new(kind, count), *buffer = buffer_new(kind, all), *expected = buffer_new(kind, all);
  buffer_put(kind, mine, 0, count, rank, 0);
  if (rank == root)
    for (int r = 0; r < size; ++r) buffer_put(kind, expected, r * count, count, r, 0);
  if (rank == root && in_place) buffer_put(kind, buffer, rank * count, count, rank, 0);
  CHECK_OK(form_gather(rank == root && in_place ? MPI_IN_PLACE : mine, count, buffers_type[kind],
                       rank == root ? buffer : NULL, count, buffers_type[kind], root, MPI_COMM_WORLD));
  buffer_compare(kind, all, buffer, expected, "gather");
  free(mine);
}

static void test_scatter(int kind, int count, int root, int in_place) {
  const int all = rank == root ? size * count : 0;
  int *mine = buffer_new(kind, count), *buffer = buffer_new(kind, all), *expected = buffer_new(kind, count);
  for (int r = 0; r < size && rank == root; ++r) buffer_put(kind, buffer, r * count, count, root, r);
  if (!(rank == root && in_place)) buffer_put(kind, expected, 0, count, root, rank);
  CHECK_OK(form_scatter(rank == root ? buffer : NULL, count, buffers_type[kind],
                        rank == root && in_place ? MPI_IN_PLACE : mine, count, buffers_type[kind], root,
                        MPI_COMM_WORLD));
  buffer_compare(kind, count, mine, expected, "scatter");
  free(buffer);
}

static void test_allgather(int kind, int count, int in_place) {
  int *mine = buffer_new(kind, count), *buffer = buffer_new(kind, size * count),
      *expected = buffer_new(kind, size * count);
  buffer_put(kind, mine, 0, count, rank, 0);
  for (int r = 0; r < size; ++r) buffer_put(kind, expected, r * count, count, r, 0);
  if (in_place) buffer_put(kind, buffer, rank * count, count, rank, 0);
  CHECK_OK(form_allgather(in_place ? MPI_IN_PLACE : mine, count, buffers_type[kind], buffer, count,
                          buffers_type[kind], MPI_COMM_WORLD));
  buffer_compare(kind, size * count, buffer, expected, "allgather");
  free(mine);
}

static void test_alltoall(int kind, int count, int in_place) {
  const int all = size * count;
  int *out = buffer_new(kind, all), *in = buffer_new(kind, all), *expected = buffer_new(kind, all);
  for (int r = 0; r < size; ++r) {
    buffer_put(kind, in_place ? in : out, r * count, count, rank, r);
    buffer_put(kind, expected, r * count, count, r, rank);
  }
  CHECK_OK(form_alltoall(in_place ? MPI_IN_PLACE : out, count, buffers_type[kind], in, count,
                         buffers_type[kind], MPI_COMM_WORLD));
  buffer_compare(kind, all, in, expected, "alltoall");
  free(out);
}

/* One sends elements with gaps, the other receives ints. */
static void test_alltoall_mixed(int elements) {
  const int all = size * 2 * elements;
  int *out = buffer_new(kGappy, size * elements), *in = buffer_new(kSolid, all),
      *expected = buffer_new(kSolid, all);
  for (int r = 0; r < size; ++r) {
    buffer_put(kGappy, out, r * elements, elements, rank, r);
    buffer_put(kSolid, expected, r * 2 * elements, 2 * elements, r, rank);
  }
  CHECK_OK(form_alltoall(out, elements, buffers_type[kGappy], in, 2 * elements, MPI_INT, MPI_COMM_WORLD));
  buffer_compare(kSolid, all, in, expected, "alltoall of mixed types");
  free(out);
}

/* Nobody leaves before the last one has entered (all ranks of these tests are on one machine, with one
 * clock). */
static void test_barrier(void) {
  for (int late = 0; late < size; ++late) {
    const struct timespec pause = {0, 2000000};
    double entered, left, last_entered, first_left;
    if (rank == late) nanosleep(&pause, NULL);
    entered = MPI_Wtime();
    CHECK_OK(form_barrier(MPI_COMM_WORLD));
    left = MPI_Wtime();
    form_allreduce(&entered, &last_entered, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    form_allreduce(&left, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    CHECK(first_left >= last_entered);
  }
}

static void test_form(void) {
  static const int counts[] = {0, 1, 3, 300, 1500, 50000};
  test_barrier();
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
    const int count = counts[c];
    const int few_roots = count > 1000 && size > 4;
    for (int kind = 0; kind < kKinds; ++kind) {
      for (int root = 0; root < size; root += few_roots ? size - 2 : 1) {
        test_bcast(kind, count, root);
        if (count > 2000 && size > 4) continue;
        test_bcast_mixed(count, root);
        for (int in_place = 0; in_place < 2; ++in_place) {
          test_gather(kind, count, root, in_place);
          test_scatter(kind, count, root, in_place);
        }
      }
      if (count > 2000 && size > 4) continue;
      for (int in_place = 0; in_place < 2; ++in_place) {
        test_allgather(kind, count, in_place);
        test_alltoall(kind, count, in_place);
      }
    }
    if (count <= 2000) test_alltoall_mixed(count);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  buffers_begin();
  for (form = kBlocking; form < kForms; ++form) test_form();
  buffers_end();
  MPI_Finalize();
  return check_result();
}
