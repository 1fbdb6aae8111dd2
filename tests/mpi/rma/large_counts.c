/* The forms with large counts (MPI_X_c) of windows and of operations on them, and MPI_Raccumulate. */
#include "check.h"

enum { kInts = 3 };
static int rank, size, next;

static void wait_for(MPI_Request* request) { CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

/* Each rank works on the memory of the next one, alone: its first kInts ints are 0. */
static void operations(MPI_Win win) {
  const int ones[kInts] = {1, 1, 1}, twos[kInts] = {2, 2, 2};
  int found[kInts];
  MPI_Request request;
  CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
  CHECK_OK(MPI_Rput_c(ones, kInts, MPI_INT, next, 0, kInts, MPI_INT, win, &request));
  wait_for(&request);
  CHECK_OK(MPI_Win_flush(next, win));
  CHECK_OK(MPI_Accumulate_c(twos, kInts, MPI_INT, next, 0, kInts, MPI_INT, MPI_SUM, win));           /* 3 */
  CHECK_OK(MPI_Raccumulate(twos, kInts, MPI_INT, next, 0, kInts, MPI_INT, MPI_PROD, win, &request)); /* 6 */
  wait_for(&request);
  CHECK_OK(MPI_Win_flush(next, win));
  CHECK_OK(MPI_Get_c(found, kInts, MPI_INT, next, 0, kInts, MPI_INT, win));
  CHECK_OK(MPI_Win_flush(next, win));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(found[i], 6);
  CHECK_OK(MPI_Get_accumulate_c(ones, kInts, MPI_INT, found, kInts, MPI_INT, next, 0, kInts, MPI_INT, MPI_SUM,
                                win)); /* 7 */
  CHECK_OK(MPI_Win_flush(next, win));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(found[i], 6);
  CHECK_OK(MPI_Rget_accumulate_c(twos, kInts, MPI_INT, found, kInts, MPI_INT, next, 0, kInts, MPI_INT,
                                 MPI_PROD, win, &request)); /* 14 */
  wait_for(&request);
  for (int i = 0; i < kInts; ++i) CHECK_EQ(found[i], 7);
  CHECK_OK(MPI_Rget_c(found, kInts, MPI_INT, next, 0, kInts, MPI_INT, win, &request));
  wait_for(&request);
  for (int i = 0; i < kInts; ++i) CHECK_EQ(found[i], 14);
  CHECK_OK(MPI_Win_unlock(next, win));
}

static void created(void) {
  int memory[kInts] = {0, 0, 0};
  MPI_Win win = MPI_WIN_NULL;
  CHECK_OK(
      MPI_Win_create_c(memory, sizeof memory, (MPI_Aint)sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  MPI_Barrier(MPI_COMM_WORLD);
  operations(win);
  CHECK_OK(MPI_Win_free(&win));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(memory[i], 14);
}

/* Of the ranks that share memory. */
static void shared(void) {
  MPI_Comm node;
  MPI_Win win = MPI_WIN_NULL;
  int* base = NULL;
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  CHECK_OK(MPI_Win_allocate_shared_c(kInts * sizeof(int), (MPI_Aint)sizeof(int), MPI_INFO_NULL, node, &base,
                                     &win));
  int here, there;
  MPI_Comm_rank(node, &here);
  MPI_Comm_size(node, &there);
  for (int i = 0; i < kInts; ++i) base[i] = 100 * here + i;
  CHECK_OK(MPI_Win_fence(0, win));
  MPI_Aint bytes = -1, unit = -1;
  int* other = NULL;
  CHECK_OK(MPI_Win_shared_query_c(win, (here + 1) % there, &bytes, &unit, &other));
  CHECK_EQ(bytes, kInts * sizeof(int));
  CHECK_EQ(unit, sizeof(int));
  for (int i = 0; i < kInts; ++i) CHECK_EQ(other[i], 100 * ((here + 1) % there) + i);
  CHECK_OK(MPI_Win_fence(0, win));
  CHECK_OK(MPI_Win_free(&win));
  MPI_Comm_free(&node);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  created();
  shared();
  MPI_Finalize();
  return check_result();
}
