/* All ranks round upward, and so does whatever thread combines their operands: each sum of 1 and something
 * tiny is greater than 1. And an overflow in one element shows in the rank that has called MPI_Reduce_local.
 */
#include "check.h"

#include <fenv.h>
#include <float.h>

enum { MOST = 300000, CALLS = 7 };

static int rank, size;
static double *in, *out;

/* Sums 1 of rank 0 and what the others have. The number of results at the caller. */
static int sum(int call, int count, MPI_Win win) {
  MPI_Request request;
  const int block = count / size;
  switch (call) {
    case 0:
      CHECK_OK(MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
      return count;
    case 1:
      CHECK_OK(MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      return count;
    case 2:
      CHECK_OK(MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD));
      return rank == size - 1 ? count : 0;
    case 3:
      CHECK_OK(MPI_Ireduce(in, out, count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      return rank == size - 1 ? count : 0;
    case 4:
      CHECK_OK(MPI_Iscan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      return rank == 0 ? 0 : count;
    case 5:
      CHECK_OK(MPI_Ireduce_scatter_block(in, out, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      return block;
    default:
      for (int i = 0; i < count; ++i) out[i] = 1;
      CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
      CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
      if (rank == size - 1) {
        for (int i = 0; i < count; ++i) in[i] = 1e-30;
        CHECK_OK(MPI_Accumulate(in, count, MPI_DOUBLE, 0, 0, count, MPI_DOUBLE, MPI_SUM, win));
      }
      CHECK_OK(MPI_Win_unlock(0, win));
      CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
      return rank == 0 ? count : 0;
  }
}

static int count_wrong(int results) {
  int wrong = 0;
  for (int i = 0; i < results; ++i) wrong += !(out[i] > 1);
  return wrong;
}

static void test_upward(int count, MPI_Win win) {
  for (int call = size == 1 ? CALLS - 1 : 0; call < CALLS; ++call) {
    for (int i = 0; i < count; ++i) {
      in[i] = rank == 0 ? 1 : 1e-30;
      out[i] = 0;
    }
    const int wrong = count_wrong(sum(call, count, win));
    CHECK(wrong == 0);
    if (wrong != 0) printf("call %d, rank %d: %d of %d are not rounded upward\n", call, rank, wrong, count);
  }
  for (int i = 0; i < count; ++i) {
    in[i] = 1;
    out[i] = 1e-30;
  }
  CHECK_OK(MPI_Reduce_local(in, out, count, MPI_DOUBLE, MPI_SUM));
  CHECK_EQ(count_wrong(count), 0);
}

static void test_overflow(void) {
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < MOST; ++i) in[i] = out[i] = 0;
    const int at = MOST / 8 * round + round;
    in[at] = out[at] = DBL_MAX;
    feclearexcept(FE_ALL_EXCEPT);
    CHECK_OK(MPI_Reduce_local(in, out, MOST, MPI_DOUBLE, MPI_SUM));
    CHECK(fetestexcept(FE_OVERFLOW) != 0);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_EQ(fesetround(FE_UPWARD), 0);
  in = malloc(MOST * sizeof *in);
  MPI_Win win;
  MPI_Win_allocate(MOST * sizeof *out, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &out, &win);
  test_upward(12, win);
  test_upward(3000, win);
  test_upward(MOST, win);
  test_overflow();
  CHECK_EQ(fegetround(), FE_UPWARD);
  MPI_Win_free(&win);
  free(in);
  MPI_Finalize();
  return check_result();
}
