/* Communicators come and go by the thousand, and may be freed while their messages are still under way
 * (MPI-5.0 section 7.4.3). */
#include "check.h"

static int size, rank;

static void thousands(void) {
  for (int i = 0; i < 1500; ++i) {
    MPI_Comm copy, part;
    int total = -1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK_OK(MPI_Comm_split(copy, (rank + i) % 2, 0, &part));
    if (i % 100 == 0) {
      CHECK_OK(MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, copy));
      CHECK_EQ(total, size * (size - 1) / 2);
    }
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Comm_free(&copy));
  }
}

static void many_at_once(void) {
  enum { kMany = 300 };
  static MPI_Comm comms[kMany];
  for (int i = 0; i < kMany; ++i) CHECK_OK(MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i - 1], &comms[i]));
  for (int i = kMany - 1; i >= 0; --i) {
    int value = rank == size - 1 ? i : -1;
    CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, size - 1, comms[i]));
    CHECK_EQ(value, i);
  }
  for (int i = 0; i < kMany; i += 2) CHECK_OK(MPI_Comm_free(&comms[i]));
  for (int i = 1; i < kMany; i += 2) CHECK_OK(MPI_Comm_free(&comms[i]));
}

/* Messages that were started before MPI_Comm_free arrive after it. */
static void freed_while_in_use(void) {
  enum { kLarge = 300000 };
  MPI_Comm comm;
  MPI_Request requests[4];
  int* large = malloc(2 * kLarge * sizeof *large);
  int small = rank, got = -1;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int i = 0; i < kLarge; ++i) large[i] = rank + i;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, from, 1, comm, &requests[0]));
  CHECK_OK(MPI_Irecv(large + kLarge, kLarge, MPI_INT, from, 2, comm, &requests[1]));
  CHECK_OK(MPI_Isend(large, kLarge, MPI_INT, to, 2, comm, &requests[2]));
  CHECK_OK(MPI_Isend(&small, 1, MPI_INT, to, 1, comm, &requests[3]));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(got, from);
  for (int i = 0; i < kLarge; i += 997) CHECK_EQ(large[kLarge + i], from + i);
  free(large);
}

static void disconnect(void) {
  MPI_Comm comm;
  int value = rank, got = -1;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size,
                        0, comm, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Comm_disconnect(&comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_EQ(got, (rank + size - 1) % size);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  thousands();
  many_at_once();
  freed_while_in_use();
  disconnect();
  MPI_Finalize();
  return check_result();
}
