/* Several threads of each rank use one window at the same time: in an epoch for all ranks that they share,
   and with locks that each takes by itself. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 200 };
static int rank, size;
static MPI_Win shared, own[kThreads];

static void* increment(void* argument) {
  const int number = *(const int*)argument;
  const long one = 1;
  for (int i = 0; i < kRounds; ++i) {
    const int target = (rank + number + i) % size;
    long before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, shared);
    MPI_Win_flush(target, shared);
    CHECK(before >= 0);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, own[number]);
    MPI_Get(&before, 1, MPI_LONG, target, 0, 1, MPI_LONG, own[number]);
    MPI_Win_flush(target, own[number]);
    ++before;
    MPI_Put(&before, 1, MPI_LONG, target, 0, 1, MPI_LONG, own[number]);
    MPI_Win_unlock(target, own[number]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, numbers[kThreads];
  long *base = NULL, *bases[kThreads];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &shared);
  *base = 0;
  for (int i = 0; i < kThreads; ++i) {
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &bases[i], &own[i]);
    *bases[i] = 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, shared);
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, increment, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Win_unlock_all(shared);
  MPI_Barrier(MPI_COMM_WORLD);
  long sums[1 + kThreads] = {*base}, totals[1 + kThreads];
  for (int i = 0; i < kThreads; ++i) sums[1 + i] = *bases[i];
  MPI_Allreduce(sums, totals, 1 + kThreads, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(totals[0], (long)kThreads * kRounds * size);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(totals[1 + i], (long)kRounds * size);
  /* An exclusive lock needs all that the threads have taken to be given back. */
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, shared);
  MPI_Win_unlock((rank + 1) % size, shared);
  for (int i = 0; i < kThreads; ++i) MPI_Win_free(&own[i]);
  MPI_Win_free(&shared);
  MPI_Finalize();
  return check_result();
}
