/* Threads of a rank that lock and unlock different targets of one window at the same time, each on a core of
   its own where there are two: what one of them ends is not the epoch of another. */
#include "../../own_core.h"

#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kThreads = 2, kRounds = 100000 };
static MPI_Win win;
static int size;
static atomic_int begun, wrong;

static void* lock_and_unlock(void* argument) {
  const int target = *(int*)argument;
  long one = 1, before = -1;
  take_core(target);
  atomic_fetch_add(&begun, 1);
  while (atomic_load(&begun) % kThreads != 0) /* all at once */
    sched_yield();
  for (int i = 0; i < kRounds && atomic_load(&wrong) == 0; ++i) {
    int failed =
        MPI_Win_lock(MPI_LOCK_SHARED, target, i % 64 == 0 ? 0 : MPI_MODE_NOCHECK, win) != MPI_SUCCESS;
    if (i % 64 == 0)
      failed += MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, win) != MPI_SUCCESS;
    failed += MPI_Win_flush(target, win) != MPI_SUCCESS;
    failed += MPI_Win_unlock(target, win) != MPI_SUCCESS;
    atomic_fetch_add(&wrong, failed);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided, rank, targets[kThreads];
  long* base;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  *base = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < kThreads; ++i) {
      targets[i] = i;
      pthread_create(&threads[i], NULL, lock_and_unlock, &targets[i]);
    }
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    CHECK_EQ(atomic_load(&wrong), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < kThreads) CHECK_EQ(*base, (kRounds + 63) / 64);
  if (rank == 0 && atomic_load(&wrong) > 0) MPI_Abort(MPI_COMM_WORLD, 1); /* an epoch may be open */
  CHECK_OK(MPI_Win_free(&win));
  MPI_Finalize();
  return check_result();
}
