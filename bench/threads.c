/* Threads of two ranks (MPI_THREAD_MULTIPLE), thread t of rank 0 with thread t of rank 1. Once every pair of
 * threads has a communicator of its own, once all share one and tags tell them apart. The number of threads
 * stands where other programs print the bytes.
 *
 * Messages a second: thread t of rank 0 keeps 64 sends of 8 bytes in flight to thread t of rank 1, which
 * answers each window with one message. Thread 0 is the main thread.
 * Round trips of 8 bytes, and 64 puts of 8 bytes with a flush: by threads that the main thread has made and
 * waits for in pthread_join. */
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

static int round_trips, put_windows;
static MPI_Win window;

static void* send_to_and_fro(void* argument) {
  const int thread = (int)(size_t)argument;
  const MPI_Comm comm = shared_communicator ? MPI_COMM_WORLD : own[thread];
  double value = 0;
  for (int i = 0; i < round_trips; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, thread, comm);
    MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, thread, comm, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, thread, comm);
  }
  return NULL;
}

static void* put(void* argument) {
  const MPI_Aint mine = (MPI_Aint)(size_t)argument * kWindow;
  const double value = 1;
  for (int i = 0; i < put_windows; ++i) {
    for (int w = 0; w < kWindow; ++w)
      MPI_Put(&value, 1, MPI_DOUBLE, 1 - rank, mine + w, 1, MPI_DOUBLE, window);
    MPI_Win_flush(1 - rank, window);
  }
  return NULL;
}

static void run_threads(void* (*body)(void*), size_t threads) {
  pthread_t made[kMostThreads];
  for (size_t t = 0; t < threads; ++t)
    if (pthread_create(&made[t], NULL, body, (void*)t) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  for (size_t t = 0; t < threads; ++t) pthread_join(made[t], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void batch_of_round_trips(int iterations, size_t threads) {
  round_trips = iterations;
  run_threads(send_to_and_fro, threads);
}

static void batch_of_puts(int iterations, size_t threads) {
  put_windows = iterations;
  run_threads(put, threads);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  measure_init(&argc, &argv);
  if (provided != MPI_THREAD_MULTIPLE || size != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int t = 0; t < kMostThreads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
  for (int threads = 1; threads <= kMostThreads; threads *= 2)
    for (shared_communicator = 0; shared_communicator < 2; ++shared_communicator) {
      measure_threads(shared_communicator ? "threads-shared" : "threads-own", threads);
      measure(shared_communicator ? "threads-pingpong-shared" : "threads-pingpong-own", (size_t)threads, 1,
              batch_of_round_trips);
    }
  double* memory;
  MPI_Win_allocate(sizeof(double) * kMostThreads * kWindow, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &memory, &window);
  MPI_Win_lock_all(0, window);
  for (int threads = 1; threads <= kMostThreads; threads *= 2)
    measure("threads-put", (size_t)threads, (double)kWindow * threads, batch_of_puts);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  for (int t = 0; t < kMostThreads; ++t) MPI_Comm_free(&own[t]);
  MPI_Finalize();
  return 0;
}
