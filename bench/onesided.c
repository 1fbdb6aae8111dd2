/* One-sided communication: seconds for one operation, complete at the target. Rank 0 is the origin and the
   last rank the target, but for fence and pscw (all ranks, each with its neighbours), contended_lock (all
   ranks lock the last one exclusively and add to a number there), updates (all ranks add to random places of
   all ranks: HPCC's RandomAccess with MPI_Fetch_and_op) and stencil (a row of doubles for each rank in a
   shared window; the ranks read their neighbours' ends by load, between barriers).

   "create_": the window is made by MPI_Win_create, otherwise by MPI_Win_allocate. busy_target: the longest
   time of lock, put, flush and unlock while the target computes without MPI for a second.

   Arguments: measure.h. */
#include "measure.h"

enum { kWindow = 1 << 20 };
static MPI_Win win;
static char* data;
static int target;

static void put(int iterations, size_t bytes) {
  if (rank != 0) return;
  for (int i = 0; i < iterations; ++i) {
    MPI_Put(data, (int)bytes, MPI_BYTE, target, 0, (int)bytes, MPI_BYTE, win);
    MPI_Win_flush(target, win);
  }
}

static void get(int iterations, size_t bytes) {
  if (rank != 0) return;
  for (int i = 0; i < iterations; ++i) {
    MPI_Get(data, (int)bytes, MPI_BYTE, target, 0, (int)bytes, MPI_BYTE, win);
    MPI_Win_flush(target, win);
  }
}

enum { kBurst = 64 };
static void put_burst(int iterations, size_t bytes) {
  if (rank != 0) return;
  for (int i = 0; i < iterations; ++i) {
    for (int k = 0; k < kBurst; ++k)
      MPI_Put(data, (int)bytes, MPI_BYTE, target, k * (MPI_Aint)bytes, (int)bytes, MPI_BYTE, win);
    MPI_Win_flush(target, win);
  }
}

static void fetch(int iterations, size_t bytes) {
  (void)bytes;
  if (rank != 0) return;
  for (int i = 0; i < iterations; ++i) {
    const long one = 1;
    long before;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
  }
}

static void swap(int iterations, size_t bytes) {
  (void)bytes;
  if (rank != 0) return;
  long value = 0;
  for (int i = 0; i < iterations; ++i) {
    const long wanted = value + 1;
    long before;
    MPI_Compare_and_swap(&wanted, &value, &before, MPI_LONG, target, 8, win);
    MPI_Win_flush(target, win);
    value = before == value ? wanted : before;
  }
}

static void accumulate(int iterations, size_t bytes) {
  if (rank != 0) return;
  const int n = (int)(bytes / sizeof(double));
  for (int i = 0; i < iterations; ++i) {
    MPI_Accumulate(data, n, MPI_DOUBLE, target, 0, n, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(target, win);
  }
}

static void lock(int iterations, size_t bytes) {
  (void)bytes;
  if (rank != 0) return;
  for (int i = 0; i < iterations; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Win_unlock(target, win);
  }
}

static void contended_lock(int iterations, size_t bytes) {
  (void)bytes;
  for (int i = 0; i < iterations; ++i) {
    const long one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, target, 16, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void fence(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Put(data, (int)bytes, MPI_BYTE, (rank + 1) % size, 0, (int)bytes, MPI_BYTE, win);
    MPI_Win_fence(0, win);
  }
}

static MPI_Group neighbours;

static void pscw(int iterations, size_t bytes) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Win_post(neighbours, 0, win);
    MPI_Win_start(neighbours, 0, win);
    MPI_Put(data, (int)bytes, MPI_BYTE, (rank + 1) % size, 0, (int)bytes, MPI_BYTE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
}

static void updates(int iterations, size_t bytes) {
  static unsigned long long random = 88172645463325252ull;
  for (int i = 0; i < iterations; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const long value = (long)(random >> 1);
    long before;
    const int where = (int)(random >> 8) & 0x7fffffff;
    MPI_Fetch_and_op(&value, &before, MPI_LONG, where % size, 8 * (MPI_Aint)(random >> 40 & (bytes / 8 - 1)),
                     MPI_BXOR, win);
    if (i % 64 == 63) MPI_Win_flush_all(win);
  }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The longest of the origin's operations, as often as they fit into the target's second. */
static void busy_target(void) {
  double longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double end = MPI_Wtime() + 1;
  if (rank == target) {
    volatile double sum = 0;
    while (MPI_Wtime() < end)
      for (int i = 0; i < 1000; ++i) sum += i;
  } else if (rank == 0) {
    while (MPI_Wtime() < end - 0.5) {
      const double begin = MPI_Wtime();
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      MPI_Put(data, 8, MPI_BYTE, target, 0, 8, MPI_BYTE, win);
      MPI_Win_flush(target, win);
      MPI_Win_unlock(target, win);
      const double took = MPI_Wtime() - begin;
      longest = took > longest ? took : longest;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("busy_target 8 %.6g\n", longest);
}

static double *row, *left, *right;

static void stencil(int iterations, size_t bytes) {
  const size_t n = bytes / sizeof(double);
  for (int i = 0; i < iterations; ++i) {
    const double before = left[n - 1], after = right[0];
    MPI_Barrier(MPI_COMM_WORLD);
    double last = before;
    for (size_t k = 0; k < n; ++k) {
      const double next = k + 1 < n ? row[k + 1] : after, mine = row[k];
      row[k] = 0.5 * mine + 0.25 * (last + next);
      last = mine;
    }
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
  }
}

static void measure_stencil(void) {
  enum { kBytes = 8192 };
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here;
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  if (here != size) return; /* several hosts share no memory */
  MPI_Aint bytes;
  int unit;
  MPI_Win_allocate_shared(kBytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &row, &win);
  memset(row, 0, kBytes);
  MPI_Win_shared_query(win, (rank + size - 1) % size, &bytes, &unit, &left);
  MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &right);
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  measure("stencil", kBytes, 1, stencil);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void make_neighbours(void) {
  MPI_Group all;
  const int both[2] = {(rank + 1) % size, (rank + size - 1) % size};
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, both[0] == both[1] ? 1 : 2, both, &neighbours);
  MPI_Group_free(&all);
}

int main(int argc, char** argv) {
  measure_init(&argc, &argv);
  target = size - 1;
  data = new_buffer(kWindow);
  void* base = NULL;
  MPI_Win_allocate(kWindow, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memset(base, 0, kWindow);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  measure("put", 8, 1, put);
  measure("put", 65536, 1, put);
  measure("get", 8, 1, get);
  measure("get", 65536, 1, get);
  measure("fetch_and_op", 8, 1, fetch);
  measure("compare_and_swap", 8, 1, swap);
  measure("accumulate", kWindow, 1, accumulate);
  measure("put_burst", 8, kBurst, put_burst);
  measure("updates", kWindow, 1, updates);
  MPI_Win_unlock_all(win);
  measure("lock", 0, 1, lock);
  measure("contended_lock", 8, size, contended_lock);
  busy_target();
  make_neighbours();
  measure("pscw", 8, 1, pscw);
  MPI_Win_fence(0, win);
  measure("fence", 8, 1, fence);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Group_free(&neighbours);
  MPI_Win_free(&win);

  char* const memory = new_buffer(kWindow);
  MPI_Win_create(memory, kWindow, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  measure("create_put", 8, 1, put);
  measure("create_put", 65536, 1, put);
  measure("create_get", 8, 1, get);
  measure("create_fetch_and_op", 8, 1, fetch);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  measure_stencil();
  free(memory);
  free(data);
  MPI_Finalize();
  return 0;
}
