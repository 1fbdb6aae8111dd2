/* A thread of rank 0 learns the address of rank 1's memory, and waits for its lock, while another one ends
 * the epoch of MPI_Win_lock_all: the lock does not stay. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static MPI_Win window;

static void* ask(void* unused) {
  MPI_Aint size;
  int unit;
  void* base;
  CHECK_OK(MPI_Win_shared_query(window, 1, &size, &unit, &base));
  return unused;
}

int main(int argc, char** argv) {
  int provided, rank, *memory;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (rank == 1) CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    CHECK_OK(MPI_Win_lock_all(0, window));
    pthread_create(&thread, NULL, ask, NULL);
    usleep(20000); /* it waits */
    CHECK_OK(MPI_Win_unlock_all(window));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) CHECK_OK(MPI_Win_unlock(1, window));
  if (rank == 0) pthread_join(thread, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) { /* a deadlock, if rank 0 still had the lock */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window));
    CHECK_OK(MPI_Win_unlock(1, window));
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return check_result();
}
