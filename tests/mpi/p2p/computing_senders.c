/* A message of any size reaches a receive that waits, or is tested, while its sender computes. The receiver
 * says by memory that both have, not by MPI, that it has the message; until then the sender makes no call. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 1100000, LIMIT = 20 /* s, instead of less than a millisecond */ };

/* Otherwise long messages are moved by their senders alone: a container may forbid it. */
static int can_read_from_others(int rank, int size) {
  long own[2] = {(long)getpid(), (long)(intptr_t)own}, others[2], value = 0;
  int can = 0;
  MPI_Sendrecv(own, 2, MPI_LONG, (rank + 1) % size, 1, others, 2, MPI_LONG, (rank + size - 1) % size, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  struct iovec to = {&value, sizeof value}, from = {(void*)(intptr_t)others[1], sizeof value};
  can = process_vm_readv((pid_t)others[0], &to, 1, &from, 1, 0) == sizeof value && value == others[0];
  MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return can;
}

static void send_and_compute(char* buffer, int bytes, atomic_int* received, int round) {
  MPI_Request request;
  memset(buffer, round, (size_t)bytes);
  usleep(3000); /* the receiver sleeps */
  CHECK_OK(MPI_Isend(buffer, bytes, MPI_BYTE, 1, round, MPI_COMM_WORLD, &request));
  const double begin = MPI_Wtime(); /* makes no progress */
  while (atomic_load(received) != round && MPI_Wtime() - begin < LIMIT) sched_yield();
  if (atomic_load(received) != round)
    CHECK_FAILED("%d bytes have waited for their sender's next call", bytes);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void receive(char* buffer, int bytes, atomic_int* received, int round) {
  MPI_Request request;
  int flag = 0;
  if (round % 2 == 0) {
    CHECK_OK(MPI_Recv(buffer, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  } else {
    CHECK_OK(MPI_Irecv(buffer, bytes, MPI_BYTE, 0, round, MPI_COMM_WORLD, &request));
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  CHECK_EQ(buffer[0], round);
  CHECK_EQ(buffer[bytes - 1], round);
  atomic_store(received, round);
}

int main(int argc, char** argv) {
  static const int sizes[] = {100, 20000, 60000, 66000, 150000, 900000, MOST};
  int rank, size, unit;
  MPI_Aint length;
  MPI_Win window;
  atomic_int* received;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* const buffer = malloc(MOST);
  MPI_Win_allocate_shared(rank == 0 ? sizeof(atomic_int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &received,
                          &window);
  MPI_Win_shared_query(window, 0, &length, &unit, &received);
  if (rank == 0) atomic_store(received, 0);
  const int sizes_here = can_read_from_others(rank, size) ? 7 : 3;
  for (int round = 1; round <= 2 * sizes_here && check_failures == 0; ++round) {
    const int bytes = sizes[(round - 1) / 2];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) send_and_compute(buffer, bytes, received, round);
    if (rank == 1) receive(buffer, bytes, received, round);
    MPI_Allreduce(MPI_IN_PLACE, &check_failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
  free(buffer);
  MPI_Finalize();
  return check_result();
}
