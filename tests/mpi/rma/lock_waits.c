/* Two threads of rank 0 wait for the locks of ranks 1 and 2. Rank 2 gives its lock back first, and rank 1
   only when the thread that has got rank 2's says so: it must not depend on the other thread. By
   MPI_Win_lock, and by operations under MPI_Win_lock_all. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum {
  kWait = 30000
}; /* microseconds: the other thread, or rank, waits by then; if it does not, nothing is tested */
static MPI_Win win;
static int all;
static atomic_int first_begins;

static void use(int target) {
  const long one = 1;
  long before = -1;
  if (!all) CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
  CHECK_OK(MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, win));
  CHECK_OK(all ? MPI_Win_flush(target, win) : MPI_Win_unlock(target, win));
}

static void* first(void* unused) {
  (void)unused;
  atomic_store(&first_begins, 1);
  use(1);
  return NULL;
}

static void* second(void* unused) {
  (void)unused;
  while (atomic_load(&first_begins) == 0) sched_yield();
  usleep(kWait);
  MPI_Send(NULL, 0, MPI_INT, 2, 0, MPI_COMM_WORLD);
  use(2);
  MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  return NULL;
}

static void once(int rank) {
  pthread_t threads[2];
  atomic_store(&first_begins, 0);
  if (rank == 1 || rank == 2) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    if (all) MPI_Win_lock_all(0, win);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    if (all) MPI_Win_unlock_all(win);
  } else if (rank == 1 || rank == 2) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) usleep(kWait);
    MPI_Win_unlock(rank, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int provided, rank;
  long* base;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  *base = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (all = 0; all < 2; ++all) once(rank);
  CHECK_EQ(*base, rank == 1 || rank == 2 ? 2 : 0);
  MPI_Win_free(&win);
  MPI_Finalize();
  return check_result();
}
