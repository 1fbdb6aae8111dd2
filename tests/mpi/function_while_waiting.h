/* A rank's main thread waits already when another of its threads starts a reduction with a user's function
   and ends. The function has to be called all the same, because other ranks wait for it: the thread that
   waits is woken to call it (MPI-5.0 sections 6.12 and 11.6.2). */
#ifndef CLUMP_TESTS_FUNCTION_WHILE_WAITING_H
#define CLUMP_TESTS_FUNCTION_WHILE_WAITING_H

#include <pthread.h>
#include <time.h>

#include "check.h"

/* How the main thread of rank 0 waits for the last rank. */
enum Way { kRecv, kProbe, kWait, kWaitany, kBarrier, kWays };

struct Reduction {
  MPI_Comm comm, messages;
  MPI_Op* op; /* null: made by the thread */
  MPI_Op own;
  MPI_Request request;
  int in, out;
};

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* Starts the reduction, tells the other ranks that it has begun, and ends. */
static void* reduce_and_end(void* argument) {
  struct Reduction* const reduction = argument;
  const struct timespec until_main_sleeps = {0, 20000000}; /* if it sleeps later, nothing is wrong */
  nanosleep(&until_main_sleeps, NULL);
  if (reduction->op == NULL) MPI_Op_create(add, 1, reduction->op = &reduction->own);
  MPI_Iallreduce(&reduction->in, &reduction->out, 1, MPI_INT, *reduction->op, reduction->comm,
                 &reduction->request);
  int size = 0;
  MPI_Comm_size(reduction->messages, &size);
  for (int to = 1; to < size; ++to) MPI_Send(NULL, 0, MPI_BYTE, to, 1, reduction->messages);
  return NULL;
}

static void wait_in_this_way(enum Way way, int last, MPI_Comm messages) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index = -1;
  switch (way) {
    case kBarrier:
      MPI_Barrier(messages);
      return;
    case kProbe:
      MPI_Probe(last, 2, messages, MPI_STATUS_IGNORE);
      break;
    case kWait:
      MPI_Irecv(NULL, 0, MPI_BYTE, last, 2, messages, &requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      return;
    case kWaitany:
      MPI_Irecv(NULL, 0, MPI_BYTE, last, 2, messages, &requests[1]);
      MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      CHECK_EQ(index, 1);
      return;
    default:
      break;
  }
  MPI_Recv(NULL, 0, MPI_BYTE, last, 2, messages, MPI_STATUS_IGNORE);
}

/* The reduction once for each way to wait. `op`: of these ranks; null: each makes one when it needs it. */
static inline void reduce_while_waiting(MPI_Comm comm, MPI_Comm messages, MPI_Op* op) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int way = 0; way < kWays; ++way) {
    struct Reduction mine = {comm, messages, op, MPI_OP_NULL, MPI_REQUEST_NULL, rank + 1, 0};
    if (rank == 0) {
      pthread_t thread;
      CHECK_EQ(pthread_create(&thread, NULL, reduce_and_end, &mine), 0);
      wait_in_this_way(way, size - 1, messages);
      CHECK_EQ(pthread_join(thread, NULL), 0);
      CHECK_OK(MPI_Wait(&mine.request, MPI_STATUS_IGNORE));
    } else {
      MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, messages, MPI_STATUS_IGNORE);
      if (op == NULL) MPI_Op_create(add, 1, mine.op = &mine.own);
      CHECK_OK(MPI_Iallreduce(&mine.in, &mine.out, 1, MPI_INT, *mine.op, comm, &mine.request));
      CHECK_OK(MPI_Wait(&mine.request, MPI_STATUS_IGNORE));
      if (way == kBarrier)
        MPI_Barrier(messages);
      else if (rank == size - 1)
        MPI_Send(NULL, 0, MPI_BYTE, 0, 2, messages);
    }
    CHECK_EQ(mine.out, size * (size + 1) / 2);
    if (mine.own != MPI_OP_NULL) CHECK_OK(MPI_Op_free(&mine.own));
  }
}

#endif
