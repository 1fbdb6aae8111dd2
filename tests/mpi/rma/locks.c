/* Passive targets: MPI_Win_lock of both types, MPI_Win_lock_all, the flushes, and the operations under them.
 */
#include "check.h"

static int rank, size;

/* Without mutual exclusion increments would be lost. */
static void test_exclusive(MPI_Win win, const int* mine) {
  enum { kRounds = 50 };
  for (int i = 0; i < kRounds; ++i) {
    int value = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    ++value;
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK_EQ(mine[0], kRounds * size);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* All hold it at the same time: a barrier between lock and unlock would never end otherwise. */
static void test_shared(MPI_Win win) {
  int value = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Get(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win);
  MPI_Win_flush_local(0, win);
  CHECK_EQ(value, 7);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock(0, win);
}

/* Shared and exclusive holders of all ranks' locks. */
static void test_mixed(MPI_Win win) {
  for (int i = 0; i < 40; ++i) {
    const int target = (rank + i) % size, one = 1;
    int before[2] = {-1, -1};
    if ((rank + i) % 3 == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      MPI_Get(before, 2, MPI_INT, target, 2, 2, MPI_INT, win);
      MPI_Win_flush(target, win);
      CHECK_EQ(before[0], before[1]);
      ++before[0], ++before[1];
      MPI_Put(before, 2, MPI_INT, target, 2, 2, MPI_INT, win);
      MPI_Win_unlock(target, win);
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
      MPI_Get(before, 2, MPI_INT, target, 2, 2, MPI_INT, win);
      MPI_Accumulate(&one, 1, MPI_INT, target, 4, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_unlock(target, win);
      CHECK_EQ(before[0], before[1]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_lock_all(MPI_Win win, int* mine) {
  const long long start = MPI_Win_lock_all(0, win);
  CHECK_EQ(start, MPI_SUCCESS);
  for (int target = 0; target < size; ++target) {
    const int value = 100 + rank;
    MPI_Put(&value, 1, MPI_INT, target, 8 + rank, 1, MPI_INT, win);
  }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
  for (int i = 0; i < size; ++i) CHECK_EQ(mine[8 + i], 100 + i);
  int all[64] = {0};
  for (int target = 0; target < size; ++target)
    MPI_Get(all + target, 1, MPI_INT, target, 8 + rank, 1, MPI_INT, win);
  MPI_Win_flush_local_all(win);
  for (int i = 0; i < size; ++i) CHECK_EQ(all[i], 100 + rank);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A flush, and an unlock, ends what was written before what is read after it: of two ranks that write to each
   other and then look, at least one sees what the other has written. */
static void test_write_before_read(MPI_Win win) {
  enum { kRounds = 500, kPlace = 50, kWays = 3 };
  const int peer = rank ^ 1;
  for (int round = 1; round <= kRounds; ++round) {
    const int way = round % kWays;
    int seen[2] = {-1, -1};
    MPI_Barrier(MPI_COMM_WORLD);
    if (peer < size) {
      MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, win);
      MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
      if (way == 0) MPI_Accumulate(&round, 1, MPI_INT, peer, kPlace, 1, MPI_INT, MPI_REPLACE, win);
      if (way != 0) MPI_Put(&round, 1, MPI_INT, peer, kPlace, 1, MPI_INT, win);
      if (way == 2) MPI_Win_unlock(peer, win);
      if (way != 2) MPI_Win_flush(peer, win);
      MPI_Get(&seen[0], 1, MPI_INT, rank, kPlace, 1, MPI_INT, win);
      MPI_Win_flush(rank, win);
      if (way != 2) MPI_Win_unlock(peer, win);
      MPI_Win_unlock(rank, win);
      MPI_Sendrecv(&seen[0], 1, MPI_INT, peer, 0, &seen[1], 1, MPI_INT, peer, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      CHECK(seen[0] == round || seen[1] == round);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI_MODE_NOCHECK: the program promises that nobody else is there. */
static void test_nocheck(MPI_Win win) {
  int value = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win);
  MPI_Get(&value, 1, MPI_INT, rank, 1, 1, MPI_INT, win);
  MPI_Win_unlock(rank, win);
  CHECK_EQ(value, 7);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  MPI_Get(&value, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, win);
  MPI_Win_unlock_all(win);
  CHECK_EQ(value, 7);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test_all(MPI_Win win, int* mine) {
  for (int i = 0; i < 64; ++i) mine[i] = 0;
  mine[1] = 7;
  MPI_Barrier(MPI_COMM_WORLD);
  test_exclusive(win, mine);
  test_shared(win);
  test_mixed(win);
  test_lock_all(win, mine);
  test_nocheck(win);
  test_write_before_read(win);
}

int main(int argc, char** argv) {
  int memory[64], *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test_all(win, memory);
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  test_all(win, base);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
