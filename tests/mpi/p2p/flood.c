/* A rank that does not receive is sent millions of small messages: memory stays bounded, nothing is lost and
 * nothing overtakes. Both ways, so that a full lane in each direction does not become a deadlock. Argument:
 * the number of messages. */
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"

static long resident_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage); /* the largest so far; with one host process, of all ranks together */
  return usage.ru_maxrss;
}

/* The receiver sleeps first, and then it is busy: too much comes in for it. */
static void flood(int rank, int receiver, int sender, int messages) {
  const long before = resident_kilobytes();
  if (rank == sender)
    for (int i = 0; i < messages; ++i) MPI_Send(&i, 1, MPI_INT, receiver, 1, MPI_COMM_WORLD);
  if (rank != receiver) return;
  usleep(300000);
  for (int i = 0; i < messages && check_failures < 20; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, sender, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(value, i);
  }
  const long grown = resident_kilobytes() - before;
  if (grown > 64 * 1024) CHECK_FAILED("%ld kilobytes more than before", grown);
}

/* Everybody sends to everybody before anybody receives, from a thread of control that waits in between. */
static void flood_all(int rank, int size, int messages) {
  MPI_Request* const requests = malloc(sizeof(MPI_Request) * (size_t)(messages * size));
  int* const values = malloc(sizeof(int) * (size_t)messages);
  for (int i = 0; i < messages; ++i) {
    values[i] = rank * messages + i;
    for (int peer = 0; peer < size; ++peer)
      MPI_Isend(&values[i], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[i * size + peer]);
  }
  int* const next = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < messages * size && check_failures < 20; ++i) {
    int value = -1;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    CHECK_EQ(value, status.MPI_SOURCE * messages + next[status.MPI_SOURCE]++);
  }
  MPI_Waitall(messages * size, requests, MPI_STATUSES_IGNORE);
  free(next);
  free(values);
  free(requests);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int messages = argc > 1 ? atoi(argv[1]) : 1000000;
  flood(rank, 0, size - 1, messages);
  MPI_Barrier(MPI_COMM_WORLD);
  flood(rank, size - 1, 0, messages);
  MPI_Barrier(MPI_COMM_WORLD);
  flood_all(rank, size, 20000 / size);
  MPI_Finalize();
  return check_result();
}
