/* The threads of a rank send in turn, each after the one before has told it to: so their messages are ordered
 * (MPI-5.0 section 3.5), whichever way each of them goes. Even ranks send to the next one; a last one without
 * a next has nothing to do: messages that nobody receives may keep their sender waiting. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kThreads = 3, kMessages = 3000, kMost = 40000 };
static const int kBytes[] = {4, 40, 41, 600, 4, 4, 5000, 4, kMost, 4};
static int rank, size;
static atomic_int next_message;

static int bytes_of(int message) { return kBytes[message % (int)(sizeof kBytes / sizeof kBytes[0])]; }

static void* send_in_turn(void* argument) {
  const int mine = (int)(long)argument;
  static _Thread_local char buffer[kMost];
  for (int i = mine; i < kMessages; i += kThreads) {
    while (atomic_load(&next_message) != i) sched_yield();
    memcpy(buffer, &i, sizeof i);
    MPI_Request request;
    MPI_Isend(buffer, bytes_of(i), MPI_BYTE, rank + 1, 5, MPI_COMM_WORLD, &request);
    atomic_store(&next_message, i + 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t threads[kThreads];
  if (rank % 2 == 1) {
    static char buffer[kMost];
    for (int i = 0; i < kMessages; ++i) {
      int value, count;
      MPI_Status status;
      MPI_Recv(buffer, kMost, MPI_BYTE, rank - 1, 5, MPI_COMM_WORLD, &status);
      memcpy(&value, buffer, sizeof value);
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (value != i || count != bytes_of(i)) {
        CHECK_EQ(value, i);
        CHECK_EQ(count, bytes_of(i));
        break;
      }
    }
  } else if (rank + 1 < size) {
    for (long t = 1; t < kThreads; ++t) pthread_create(&threads[t], NULL, send_in_turn, (void*)t);
    send_in_turn((void*)0);
    for (int t = 1; t < kThreads; ++t) pthread_join(threads[t], NULL);
  }
  if (check_failures > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return check_result();
}
