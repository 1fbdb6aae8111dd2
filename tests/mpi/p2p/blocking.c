/* Blocking sends of every mode round a ring, at every size, received before and after they arrive;
   MPI_Sendrecv and its replacing form; MPI_PROC_NULL; messages to oneself. */
#include "check.h"
#include "pattern.h"

typedef int (*send_function)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

static int rank, size;

static void ring(send_function send, int bytes, int seed, unsigned char* out, unsigned char* in) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Status status;
  int count;
  pattern_fill(out, bytes, rank + seed);
  memset(in, 0, bytes);
  if (rank % 2 ==
      0) { /* with an odd number of ranks, 0 and size-1 both send first: one of them always receives */
    CHECK_OK(send(out, bytes, MPI_BYTE, right, seed, MPI_COMM_WORLD));
    CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, left, seed, MPI_COMM_WORLD, &status));
  } else {
    CHECK_OK(MPI_Recv(in, bytes, MPI_BYTE, left, seed, MPI_COMM_WORLD, &status));
    CHECK_OK(send(out, bytes, MPI_BYTE, right, seed, MPI_COMM_WORLD));
  }
  CHECK_EQ(pattern_differs(in, bytes, left + seed), -1);
  CHECK_EQ(status.MPI_SOURCE, left);
  CHECK_EQ(status.MPI_TAG, seed);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQ(count, bytes);
}

static void exchange(int bytes, unsigned char* out, unsigned char* in) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Status status;
  pattern_fill(out, bytes, rank);
  CHECK_OK(
      MPI_Sendrecv(out, bytes, MPI_BYTE, right, 5, in, bytes, MPI_BYTE, left, 5, MPI_COMM_WORLD, &status));
  CHECK_EQ(pattern_differs(in, bytes, left), -1);
  CHECK_EQ(status.MPI_SOURCE, left);
  pattern_fill(in, bytes, rank);
  CHECK_OK(MPI_Sendrecv_replace(in, bytes, MPI_BYTE, right, 6, left, 6, MPI_COMM_WORLD, &status));
  CHECK_EQ(pattern_differs(in, bytes, left), -1);
  CHECK_EQ(status.MPI_TAG, 6);
}

static void no_process(void) {
  int value = 42, count;
  MPI_Status status;
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  CHECK_EQ(value, 42);
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, 0);
}

static void to_oneself(void) {
  int out = rank, in = -1;
  CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(in, rank);
  CHECK_OK(MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF)); /* small enough to be buffered */
  in = -1;
  CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_EQ(in, rank);
}

/* A receive that is longer than the message, and derived types on one side only. */
static void shapes(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  double column[40], packed[10];
  MPI_Datatype every_fourth;
  MPI_Status status;
  int count;
  MPI_Type_vector(10, 1, 4, MPI_DOUBLE, &every_fourth);
  MPI_Type_commit(&every_fourth);
  for (int i = 0; i < 40; ++i) column[i] = rank * 100 + i;
  CHECK_OK(MPI_Sendrecv(column, 1, every_fourth, right, 0, packed, 10, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                        &status));
  for (int i = 0; i < 10; ++i) CHECK_NEAR(packed[i], left * 100 + 4 * i, 0);
  for (int i = 0; i < 40; ++i) column[i] = -1;
  CHECK_OK(MPI_Sendrecv(packed, 10, MPI_DOUBLE, right, 0, column, 1, every_fourth, left, 0, MPI_COMM_WORLD,
                        &status));
  const int origin = (left + size - 1) % size;
  for (int i = 0; i < 40; ++i) CHECK_NEAR(column[i], i % 4 == 0 ? origin * 100 + i : -1, 0);
  MPI_Get_count(&status, every_fourth, &count);
  CHECK_EQ(count, 1);
  CHECK_OK(MPI_Sendrecv(packed, 3, MPI_DOUBLE, right, 0, column, 4, every_fourth, left, 0, MPI_COMM_WORLD,
                        &status));
  MPI_Get_count(&status, every_fourth, &count);
  CHECK_EQ(count, MPI_UNDEFINED);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK_EQ(count, 3);
  MPI_Type_free(&every_fourth);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  unsigned char *out = malloc(PATTERN_LARGEST), *in = malloc(PATTERN_LARGEST);
  for (int i = 0; i < PATTERN_SIZES; ++i) {
    exchange(pattern_sizes[i], out, in);
    if (size == 1) continue;
    ring(MPI_Send, pattern_sizes[i], 1, out, in);
    ring(MPI_Ssend, pattern_sizes[i], 2, out, in);
  }
  no_process();
  to_oneself();
  shapes();
  free(out);
  free(in);
  MPI_Finalize();
  return check_result();
}
