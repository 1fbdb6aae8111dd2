/* Threads of a rank receive while its main thread computes and makes no MPI call: nobody but the sender is
 * there to bring them their messages. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kMessages = 100 };
static int rank, size;
static atomic_int finished;

static void* serve(void* unused) {
  (void)unused;
  const int peer = (rank + size / 2) % size;
  char buffer[8000];
  for (int i = 0; i < kMessages; ++i) {
    int value = -1, flag = 0;
    MPI_Status status;
    MPI_Request request;
    if (i % 4 == 0) {
      MPI_Recv(&value, 1, MPI_INT, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (i % 4 == 1) {
      MPI_Irecv(&value, 1, MPI_INT, peer, i, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (i % 4 == 2) {
      MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status);
      MPI_Recv(buffer, sizeof buffer, MPI_BYTE, status.MPI_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      memcpy(&value, buffer, sizeof value);
    } else {
      MPI_Irecv(&value, 1, MPI_INT, peer, i, MPI_COMM_WORLD, &request);
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    CHECK_EQ(value, i);
  }
  atomic_fetch_add(&finished, 1);
  return NULL;
}

static void* send_all(void* unused) {
  (void)unused;
  const int peer = (rank + size / 2) % size;
  char buffer[8000] = {0};
  for (int i = 0; i < kMessages; ++i) {
    memcpy(buffer, &i, sizeof i);
    MPI_Send(buffer, i % 8 == 2 ? (int)sizeof buffer : (int)sizeof i, MPI_BYTE, peer, i, MPI_COMM_WORLD);
  }
  atomic_fetch_add(&finished, 1);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t receiver, sender;
  pthread_create(&receiver, NULL, serve, NULL);
  pthread_create(&sender, NULL, send_all, NULL);
  const double give_up = MPI_Wtime() + 100;
  while (atomic_load(&finished) < 2 && MPI_Wtime() < give_up) {
  }
  CHECK_EQ(atomic_load(&finished), 2);
  if (check_failures > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  pthread_join(receiver, NULL);
  pthread_join(sender, NULL);
  MPI_Finalize();
  return check_result();
}
