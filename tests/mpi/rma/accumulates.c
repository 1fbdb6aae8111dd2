/* The accumulate family: every predefined operation, elements that stay whole under contention, results. */
#include <math.h>
#include <stdint.h>

#include "check.h"

static int rank, size;

/* Each rank adds to all elements of rank 0; sums of doubles that are small integers are exact. */
static void test_sums(MPI_Win win, double* mine, int n) {
  double* const ones = malloc(sizeof(double) * (size_t)n);
  for (int i = 0; i < n; ++i) ones[i] = i % 7, mine[i] = 1;
  MPI_Win_fence(0, win);
  for (int round = 0; round < 3; ++round)
    MPI_Accumulate(ones, n, MPI_DOUBLE, 0, 0, n, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (rank == 0)
    for (int i = 0; i < n; ++i) CHECK_EQ(mine[i], 1 + 3 * size * (i % 7));
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  free(ones);
}

/* Long accumulates of which each has another part, and single elements among them. */
static void test_overlapping(MPI_Win win, int64_t* mine, int n) {
  enum { kRounds = 4 };
  const int from = rank * (n / (2 * size)), some = n / 2;
  int64_t* const ones = malloc(sizeof(int64_t) * (size_t)n);
  for (int i = 0; i < n; ++i) ones[i] = 1, mine[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Accumulate(ones, some, MPI_INT64_T, 0, from * 8, some, MPI_INT64_T, MPI_SUM, win);
    for (int i = round; i < n; i += n / 16) {
      int64_t before = -1;
      MPI_Fetch_and_op(ones, &before, MPI_INT64_T, 0, i * 8, MPI_SUM, win);
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  for (int i = 0; rank == 0 && i < n; ++i) {
    int64_t wanted = 0;
    for (int one = 0; one < size; ++one) {
      const int its = one * (n / (2 * size));
      wanted += i >= its && i < its + some ? kRounds : 0;
    }
    for (int round = 0; round < kRounds; ++round)
      wanted += i >= round && (i - round) % (n / 16) == 0 ? size : 0;
    CHECK_EQ(mine[i], wanted);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(ones);
}

/* Every value that fetch-and-op gives is given once. */
static void test_counter(MPI_Win win, int64_t* mine) {
  enum { kEach = 100 };
  if (rank == 0) *mine = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  int64_t last = -1, sum = 0, total = 0;
  const int64_t one = 1;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kEach; ++i) {
    int64_t before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    CHECK(before > last);
    last = before;
    sum += before;
  }
  MPI_Win_unlock_all(win);
  MPI_Allreduce(&sum, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t n = (int64_t)kEach * size;
  CHECK_EQ(total, n * (n - 1) / 2);
  int64_t now = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Fetch_and_op(NULL, &now, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
  MPI_Win_unlock(0, win);
  CHECK_EQ(now, n);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A spin lock made of compare-and-swap. */
static void test_compare_and_swap(MPI_Win win, int64_t* mine) {
  enum { kRounds = 20 };
  if (rank == 0) mine[0] = mine[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kRounds; ++i) {
    const int64_t free_value = 0, mine_value = rank + 1;
    int64_t found = -1, count = -1;
    while (found != 0) {
      MPI_Compare_and_swap(&mine_value, &free_value, &found, MPI_INT64_T, 0, 0, win);
      MPI_Win_flush(0, win);
    }
    MPI_Get(&count, 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    ++count;
    MPI_Put(&count, 1, MPI_INT64_T, 0, 8, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&free_value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK_EQ(mine[1], (int64_t)kRounds * size);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int combined(MPI_Op op, int a, int b) {
  if (op == MPI_SUM) return a + b;
  if (op == MPI_PROD) return a * b;
  if (op == MPI_MIN) return a < b ? a : b;
  if (op == MPI_MAX) return a > b ? a : b;
  if (op == MPI_BAND) return a & b;
  if (op == MPI_BOR) return a | b;
  if (op == MPI_BXOR) return a ^ b;
  if (op == MPI_LAND) return a && b;
  if (op == MPI_LOR) return a || b;
  if (op == MPI_LXOR) return !a != !b;
  if (op == MPI_REPLACE) return a;
  return b; /* MPI_NO_OP */
}

/* To its right neighbour, so nobody else is there. */
static void test_every_op(MPI_Win win, int* mine) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,    MPI_BOR,
                        MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int k = 0; k < (int)(sizeof ops / sizeof ops[0]); ++k) {
    int operand[8], result[8];
    for (int i = 0; i < 8; ++i) operand[i] = 3 * i + rank, mine[i] = 5 - i + rank, result[i] = -99;
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(operand, 8, MPI_INT, result, 8, MPI_INT, right, 0, 8, MPI_INT, ops[k], win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; ++i) {
      CHECK_EQ(result[i], 5 - i + right);
      CHECK_EQ(mine[i], combined(ops[k], 3 * i + left, 5 - i + rank));
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  }
}

/* A value with its place: two parts with a gap between elements. */
static void test_pairs(MPI_Win win, void* memory) {
  struct Pair {
    double value;
    int place;
  } *const mine = memory, own = {100 - (rank * 3) % 7, rank};
  mine[0].value = mine[1].value = 1000, mine[0].place = mine[1].place = -1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&own, 1, MPI_DOUBLE_INT, 0, sizeof own, 1, MPI_DOUBLE_INT, MPI_MINLOC, win);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    int best = 0;
    for (int i = 0; i < size; ++i)
      if (100 - (i * 3) % 7 < 100 - (best * 3) % 7) best = i;
    CHECK_EQ(mine[1].place, best);
    CHECK_EQ(mine[1].value, 100 - (best * 3) % 7);
    CHECK_EQ(mine[0].place, -1);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* MPI_Get_accumulate without operand is an atomic get. */
static void test_no_op(MPI_Win win, int* mine) {
  int found[4] = {0};
  for (int i = 0; i < 4; ++i) mine[i] = 10 * rank + i;
  MPI_Win_fence(0, win);
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, found, 4, MPI_INT, size - 1, 0, 4, MPI_INT, MPI_NO_OP, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < 4; ++i) CHECK_EQ(found[i], 10 * (size - 1) + i);
}

static void test_all(MPI_Win win, void* memory, int bytes) {
  test_sums(win, memory, bytes / (int)sizeof(double));
  test_sums(win, memory, 5);
  test_overlapping(win, memory, bytes / (int)sizeof(int64_t));
  test_counter(win, memory);
  test_compare_and_swap(win, memory);
  test_every_op(win, memory);
  test_pairs(win, memory);
  test_no_op(win, memory);
}

int main(int argc, char** argv) {
  enum { kBytes = 300000 }; /* so many that waiting ranks help */
  void* base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* const memory = malloc(kBytes);
  MPI_Win_create(memory, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test_all(win, memory, kBytes);
  MPI_Win_free(&win);
  free(memory);
  MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  test_all(win, base, kBytes);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
