/* Messages a second between the threads of two ranks (MPI_THREAD_MULTIPLE): thread t of rank 0 keeps 64 sends
 * of 8 bytes in flight to thread t of rank 1, which answers each window with one message. Once every pair of
 * threads has a communicator of its own, once all share one and tags tell them apart. The number of threads
 * stands where other programs print the bytes. */
#include <pthread.h>

#include "measure.h"

enum { kWindow = 64, kMostThreads = 16 };

static MPI_Comm own[kMostThreads];
static int shared_communicator; /* whether all threads use MPI_COMM_WORLD */
static int iterations_now;
static pthread_barrier_t begin, end;

static void exchange(int thread, int iterations) {
  const MPI_Comm comm = shared_communicator ? MPI_COMM_WORLD : own[thread];
  char data[kWindow][8] = {{0}};
  MPI_Request requests[kWindow];
  for (int i = 0; i < iterations; ++i) {
    for (int w = 0; w < kWindow; ++w)
      if (rank == 0)
        MPI_Isend(data[w], 8, MPI_BYTE, 1, thread, comm, &requests[w]);
      else
        MPI_Irecv(data[w], 8, MPI_BYTE, 0, thread, comm, &requests[w]);
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(NULL, 0, MPI_BYTE, 1, kMostThreads + thread, comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, 0, kMostThreads + thread, comm);
  }
}

static void* serve(void* argument) {
  for (;;) {
    pthread_barrier_wait(&begin);
    if (iterations_now == 0) return NULL;
    exchange((int)(size_t)argument, iterations_now);
    pthread_barrier_wait(&end);
  }
}

static void batch(int iterations, size_t threads) {
  (void)threads;
  iterations_now = iterations;
  pthread_barrier_wait(&begin);
  if (iterations == 0) return;
  exchange(0, iterations);
  pthread_barrier_wait(&end);
}

/* Thread 0 of each rank is the main thread. */
static void measure_threads(const char* name, int threads) {
  pthread_t others[kMostThreads];
  pthread_barrier_init(&begin, NULL, (unsigned)threads);
  pthread_barrier_init(&end, NULL, (unsigned)threads);
  for (int t = 1; t < threads; ++t)
    if (pthread_create(&others[t], NULL, serve, (void*)(size_t)t) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  measure(name, (size_t)threads, (double)kWindow * threads, batch);
  batch(0, 0);
  for (int t = 1; t < threads; ++t) pthread_join(others[t], NULL);
  pthread_barrier_destroy(&begin);
  pthread_barrier_destroy(&end);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  measure_init(&argc, &argv);
  if (provided != MPI_THREAD_MULTIPLE || size != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int t = 0; t < kMostThreads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
  for (int threads = 1; threads <= kMostThreads; threads *= 2)
    for (shared_communicator = 0; shared_communicator < 2; ++shared_communicator)
      measure_threads(shared_communicator ? "threads-shared" : "threads-own", threads);
  for (int t = 0; t < kMostThreads; ++t) MPI_Comm_free(&own[t]);
  MPI_Finalize();
  return 0;
}
