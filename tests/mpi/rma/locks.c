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

/* Two ranks of a communicator: one loads from the memory of rank 0, the other one changes it. */
typedef struct {
  MPI_Comm comm;
  MPI_Win win;
  int own, reader, writer;
} Pair;

/* Gives the peer time for what it must not do yet. If it does, its message comes, and no time is lost. */
static void tempt(const Pair* pair, int peer) {
  int there = 0;
  for (const double end = MPI_Wtime() + 0.01; !there && MPI_Wtime() < end;)
    MPI_Iprobe(peer, 0, pair->comm, &there, MPI_STATUS_IGNORE);
}

static void tell(const Pair* pair, int peer) { MPI_Send(NULL, 0, MPI_INT, peer, 0, pair->comm); }
static void await(const Pair* pair, int peer) {
  MPI_Recv(NULL, 0, MPI_INT, peer, 0, pair->comm, MPI_STATUS_IGNORE);
}

enum { kLoaded = 60 };

static void change(const Pair* pair, int value) {
  MPI_Put(&value, 1, MPI_INT, 0, kLoaded, 1, MPI_INT, pair->win);
  MPI_Win_flush(0, pair->win);
}

/* MPI_Win_lock_all protects loads (MPI-5.0 section 12.5.3): the reader has it neither while the writer has an
   exclusive lock, nor does the writer get that while the reader has it. `memory`: that of rank 0; null: the
   reader asks for it in the epoch. */
static void test_loads(const Pair* pair, const volatile int* memory) {
  const volatile int* there = memory;
  MPI_Aint bytes = 0;
  int unit = 0;
  if (pair->own == pair->writer) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, pair->win);
    change(pair, 1);
    tell(pair, pair->reader);
    tempt(pair, pair->reader);
    change(pair, 2);
    MPI_Win_unlock(0, pair->win);
    await(pair, pair->reader);

    await(pair, pair->reader);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, pair->win);
    change(pair, 3);
    tell(pair, pair->reader);
    MPI_Win_unlock(0, pair->win);
  } else if (pair->own == pair->reader) {
    await(pair, pair->writer);
    MPI_Win_lock_all(0, pair->win);
    if (memory == NULL) MPI_Win_shared_query(pair->win, 0, &bytes, &unit, &there);
    const int during = there[kLoaded];
    tell(pair, pair->writer);
    MPI_Win_unlock_all(pair->win);
    CHECK_EQ(during, 2);

    MPI_Win_lock_all(0, pair->win);
    const int first = there[kLoaded];
    tell(pair, pair->writer);
    tempt(pair, pair->writer);
    const int second = there[kLoaded];
    MPI_Win_unlock_all(pair->win);
    CHECK_EQ(first, 2);
    CHECK_EQ(second, 2);
    await(pair, pair->writer);
  }
  MPI_Barrier(pair->comm);
}

/* Whether rank 1 can load from the memory of rank 0. */
static int is_known(const Pair* pair) {
  int known = 0, unit = 0;
  MPI_Aint bytes = 0;
  const int* there = NULL;
  if (pair->own == 1) {
    MPI_Win_shared_query(pair->win, 0, &bytes, &unit, &there);
    known = bytes > 0;
  }
  MPI_Bcast(&known, 1, MPI_INT, 1, pair->comm);
  return known;
}

static void test_lock_all_loads(MPI_Win win, const int* mine) {
  const Pair own = {MPI_COMM_WORLD, win, rank, 0, 1}, others = {MPI_COMM_WORLD, win, rank, 1, 0};
  if (size < 2) return;
  test_loads(&own, mine);
  if (is_known(&others)) test_loads(&others, NULL);
}

/* The address is asked for in the epoch, and for the first time. */
static void test_late_query(void) {
  int* base = NULL;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  Pair pair = {.comm = node, .reader = 1, .writer = 0};
  int ranks = 0;
  MPI_Comm_rank(node, &pair.own);
  MPI_Comm_size(node, &ranks);
  for (int shared = 0; shared < 2 && ranks > 1; ++shared) {
    const MPI_Aint bytes = pair.own == 0 ? 64 * (MPI_Aint)sizeof(int) : 0;
    if (shared)
      MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, node, &base, &pair.win);
    else
      MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, node, &base, &pair.win);
    test_loads(&pair, NULL);
    MPI_Win_free(&pair.win);
  }
  MPI_Comm_free(&node);
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
  test_lock_all_loads(win, mine);
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
  test_late_query();
  MPI_Finalize();
  return check_result();
}
