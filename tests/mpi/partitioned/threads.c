/* Threads that mark the partitions they have filled, while others of the receiver take what has arrived. The
 * last to mark is still inside of MPI_Pready when the request may be complete, and freed. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, EACH = 8, PARTITIONS = THREADS * EACH, LENGTH = 50, ROUNDS = 20 };
static int rank, size, right, left;
static int out[PARTITIONS * LENGTH], in[PARTITIONS * LENGTH];
static MPI_Request send, receive;
static pthread_barrier_t barrier;

static int element(int from, int round, int i) { return from * 1000000 + round * 10000 + i; }

static void* produce(void* argument) {
  const int thread = (int)(long)argument;
  long failures = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    pthread_barrier_wait(&barrier); /* the main thread has started the operations */
    for (int k = 0; k < EACH; ++k) {
      const int partition = round % 2 == 0 ? thread * EACH + k : k * THREADS + thread;
      for (int i = 0; i < LENGTH; ++i)
        out[partition * LENGTH + i] = element(rank, round, partition * LENGTH + i);
      failures += MPI_Pready(partition, send) != MPI_SUCCESS;
    }
    /* A part of what has arrived is this thread's. */
    for (int k = 0; k < EACH; ++k) {
      const int partition = thread * EACH + k;
      int flag = 0;
      while (!flag) failures += MPI_Parrived(receive, partition, &flag) != MPI_SUCCESS;
      for (int i = partition * LENGTH; i < (partition + 1) * LENGTH; ++i)
        failures += in[i] != element(left, round, i);
    }
    pthread_barrier_wait(&barrier); /* before the main thread completes them */
  }
  return (void*)failures;
}

static void produced_and_taken(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  CHECK_OK(MPI_Psend_init(out, PARTITIONS, LENGTH, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  CHECK_OK(MPI_Precv_init(in, PARTITIONS, LENGTH, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  for (long t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, produce, (void*)t);
  for (int round = 0; round < ROUNDS; ++round) {
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Start(&send));
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  }
  for (int t = 0; t < THREADS; ++t) {
    void* failures = NULL;
    pthread_join(threads[t], &failures);
    CHECK_EQ((long)failures, 0);
  }
  CHECK_OK(MPI_Request_free(&send));
  CHECK_OK(MPI_Request_free(&receive));
  pthread_barrier_destroy(&barrier);
}

static void* mark_some(void* argument) {
  const int thread = (int)(long)argument;
  for (int k = 0; k < EACH; ++k) MPI_Pready(thread * EACH + k, send);
  return NULL;
}

/* The main thread waits while others mark, and frees the requests as soon as they are complete. */
static void freed_at_once(void) {
  for (int round = 0; round < ROUNDS; ++round) {
    pthread_t threads[THREADS];
    for (int i = 0; i < PARTITIONS * LENGTH; ++i) out[i] = element(rank, round, i), in[i] = -1;
    CHECK_OK(
        MPI_Psend_init(out, PARTITIONS, LENGTH, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Start(&send));
    for (long t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, mark_some, (void*)t);
    CHECK_OK(MPI_Precv_init(in, 1, PARTITIONS * LENGTH, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &receive));
    CHECK_OK(MPI_Start(&receive));
    MPI_Request copy = send; /* the threads read the other one */
    CHECK_OK(MPI_Wait(&copy, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&copy));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&receive));
    for (int i = 0; i < PARTITIONS * LENGTH; ++i)
      if (in[i] != element(left, round, i)) {
        CHECK_EQ(in[i], element(left, round, i));
        break;
      }
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  }
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  produced_and_taken();
  freed_at_once();
  MPI_Finalize();
  return check_result();
}
