/* MPI_THREAD_MULTIPLE: the threads of a rank send and receive at the same time, each with a tag of its own,
 * and with wildcards. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 300 };
static int rank, size;

static void* ping_pong(void* argument) {
  const int tag = (int)(long)argument;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  long failures = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    int out = rank * 1000000 + tag * 10000 + round, in = -1;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, right, tag, &in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &status);
    failures += in != left * 1000000 + tag * 10000 + round || status.MPI_TAG != tag;
  }
  return (void*)failures;
}

static void* sender(void* argument) {
  const int tag = 100 + (int)(long)argument;
  for (int round = 0; round < ROUNDS; ++round)
    MPI_Send(&round, 1, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD);
  return NULL;
}

/* Matched probes hand each message to one thread only. */
static void* taker(void* argument) {
  (void)argument;
  long sum = 0;
  for (int k = 0; k < ROUNDS; ++k) {
    MPI_Message message;
    int value;
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    sum += value;
  }
  return (void*)sum;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);

  pthread_t threads[2 * THREADS];
  void* result;
  for (long t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, ping_pong, (void*)t);
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], &result);
    CHECK_EQ((long)result, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (long t = 0; t < THREADS; ++t) {
    pthread_create(&threads[t], NULL, sender, (void*)t);
    pthread_create(&threads[THREADS + t], NULL, taker, NULL);
  }
  long sum = 0;
  for (int t = 0; t < 2 * THREADS; ++t) {
    pthread_join(threads[t], &result);
    sum += (long)result;
  }
  CHECK_EQ(sum, (long)THREADS * ROUNDS * (ROUNDS - 1) / 2);
  MPI_Finalize();
  return check_result();
}
