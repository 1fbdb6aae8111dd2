/* A target that computes does not delay the others: while rank 0 spins without MPI, they lock it, put, fetch
   and unlock. Rank 0 computes until it sees by its memory alone that the others are done. */
#include "check.h"

enum { kDone = 63 }; /* where the others count themselves */

/* Windows have the unified memory model: what others have put can be read without MPI. ThreadSanitizer does
 * not know. */
__attribute__((no_sanitize_thread)) static int sees_others_done(const volatile long* done, long others) {
  volatile double sum = 0;
  const double give_up = MPI_Wtime() + 100; /* then they wait for this rank */
  while (MPI_Wtime() < give_up && *done < others)
    for (int i = 0; i < 1000; ++i) sum += i;
  return *done == others;
}

static void test(MPI_Win win, long* base, const char* name) {
  int rank = 0, size = 0;
  long times = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  base[0] = base[kDone] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK(sees_others_done(&base[kDone], size - 1));
  } else {
    for (const double end = MPI_Wtime() + 0.5; MPI_Wtime() < end;) {
      const long value = rank, one = 1;
      long before = 0;
      MPI_Win_lock(rank % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
      MPI_Put(&value, 1, MPI_LONG, 0, rank, 1, MPI_LONG, win);
      MPI_Win_flush(0, win);
      MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, win);
      MPI_Win_unlock(0, win);
      ++times;
    }
    const long one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, kDone, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Reduce(&times, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%s: %ld epochs while the target computed\n", name, all);
    CHECK_EQ(base[0], all);
  }
}

int main(int argc, char** argv) {
  long memory[64] = {0}, *base = NULL;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Init(&argc, &argv);
  MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  test(win, memory, "MPI_Win_create");
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  test(win, base, "MPI_Win_allocate");
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
