/* Threads that know nothing of each other, each with a session of its own, as libraries would have them. */
#include <pthread.h>

#include "session.h"

enum { kThreads = 3, kRounds = 5 };

static void* work(void* argument) {
  const int number = *(int*)argument;
  char name[32];
  for (int round = 0; round < kRounds; ++round) {
    MPI_Session session = open_session();
    snprintf(name, sizeof name, "library %d", number);
    MPI_Comm comm = comm_of(session, "mpi://WORLD", name);
    int size = 0, rank = -1;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_EQ(sum_over(comm, rank + number), size * (size - 1) / 2 + number * size);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return check_result();
}
