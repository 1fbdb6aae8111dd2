/* Jobs that go on, and are asked with SIGQUIT where their ranks are. What is expected has a line for itself,
 * however long. */
// clang-format off
#define _GNU_SOURCE
#include <unistd.h>

#include "corpus.h"

static void work_for(double seconds) {
  volatile double sum = 0;
  for (const double begin = MPI_Wtime(); MPI_Wtime() - begin < seconds;)
    for (int i = 0; i < 100000; ++i) sum += i;
}

/* CASE all-kinds
 * ranks: 4
 * quit: 1
 * code: 0
 * says: where the ranks are:
 * says: rank 1 waits in MPI_Recv(source 0, tag 0, MPI_COMM_WORLD) at @a: rank 0 has not sent it; it ...
 * says: ...run...; the last call of MPI was MPI_
 * says: rank 3 waits in MPI_Barrier at @b (MPI_COMM_WORLD): ...not come (...rank 1 has not come (it waits in MPI_Recv) */
static void all_kinds(void) {
  begun();
  if (rank == 0) work_for(6);
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&two, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
  if (rank == 2) sleep(6);
  MPI_Barrier(MPI_COMM_WORLD); /* @b */
}

/* CASE while-messages-fly
 * ranks: 4
 * quit: 0.5
 * code: 0
 * says: where the ranks are:
 * says: MPI_ */
static void while_messages_fly(void) {
  int goes_on = 1;
  begun();
  for (const double begin = MPI_Wtime(); goes_on;) {
    for (int i = 0; i < 100; ++i) {
      MPI_Request both[2];
      MPI_Irecv(&two, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &both[0]);
      MPI_Isend(&one, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &both[1]);
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    goes_on = MPI_Wtime() - begin < 4;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {{"all-kinds", all_kinds}, {"while-messages-fly", while_messages_fly}, {NULL, NULL}};
  return run_case(argc, argv, cases, NULL);
}
