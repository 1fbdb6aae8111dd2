/* Threads of a rank in collectives of different communicators at the same time (MPI-5.0 section 6.14). */
#include <pthread.h>

#include "check.h"

enum { kThreads = 3, kRounds = 300 };

static int rank, size;
static MPI_Comm comms[kThreads];
static int wrong[kThreads];

/* x -> the operand of the highest rank: does not commute. */
static void last(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}
static MPI_Op last_op;

/* A thread's collectives go on while it waits for messages, and the other way round. */
static void in_flight(int me, int round) {
  int mine = rank * 10 + round, highest = -1, sum = 0, got = -1;
  MPI_Request requests[4];
  MPI_Iallreduce(&mine, &highest, 1, MPI_INT, last_op, comms[me], &requests[0]);
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[me], &requests[1]);
  MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, me, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, me, MPI_COMM_WORLD, &requests[3]);
  if (round % 2 == 0) {
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  } else {
    for (int i = 3; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  wrong[me] += highest != (size - 1) * 10 + round;
  wrong[me] += sum != 5 * size * (size - 1) + size * round;
  wrong[me] += got != (rank + size - 1) % size * 10 + round;
}

static void* work(void* argument) {
  const int me = (int)(size_t)argument;
  const MPI_Comm comm = comms[me];
  int* from = malloc(sizeof(int) * (size_t)size);
  int* to = malloc(sizeof(int) * (size_t)size);
  for (int round = 0; round < kRounds; ++round) {
    int sum = 0, mine = rank + round + me, root = (round + me) % size, data = rank == root ? round : -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong[me] += sum != size * (size - 1) / 2 + size * (round + me);
    MPI_Bcast(&data, 1, MPI_INT, root, comm);
    wrong[me] += data != round;
    for (int i = 0; i < size; ++i) from[i] = rank * 100 + i + round;
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm);
    for (int i = 0; i < size; ++i) wrong[me] += to[i] != i * 100 + rank + round;
    MPI_Barrier(comm);
    in_flight(me, round);
  }
  free(from);
  free(to);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  MPI_Op_create(last, 0, &last_op);
  for (int i = 1; i < kThreads; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, work, (void*)(size_t)i), 0);
  work(NULL); /* the rank's own thread, too */
  for (int i = 1; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) {
    CHECK_EQ(wrong[i], 0);
    MPI_Comm_free(&comms[i]);
  }
  MPI_Op_free(&last_op);
  MPI_Finalize();
  return check_result();
}
