/* MPI_Isendrecv and MPI_Isendrecv_replace: a send and a receive behind one request. */
#include "check.h"

enum { LONGEST = 60000 };
static int rank, size, right, left;
static int out[LONGEST], in[LONGEST + 1];

static void fill(int length, int seed) {
  for (int i = 0; i < length; ++i) out[i] = 1000 * rank + seed + i;
  for (int i = 0; i <= length; ++i) in[i] = -1;
}

static void check_filled(const int* values, int length, int source, int seed) {
  for (int i = 0; i < length; ++i)
    if (values[i] != 1000 * source + seed + i) {
      CHECK_EQ(values[i], 1000 * source + seed + i);
      return;
    }
}

static void check_status(const MPI_Status* status, int source, int tag, int length) {
  int count = -1;
  CHECK_EQ(status->MPI_SOURCE, source);
  CHECK_EQ(status->MPI_TAG, tag);
  MPI_Get_count(status, MPI_INT, &count);
  CHECK_EQ(count, length);
}

/* All pass something on, before anybody waits. */
static void ring(int length) {
  MPI_Request request;
  MPI_Status status;
  fill(length, 7);
  CHECK_OK(MPI_Isendrecv(out, length, MPI_INT, right, 5, in, length + 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                         &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(request, MPI_REQUEST_NULL);
  check_status(&status, left, 5, length);
  check_filled(in, length, left, 7);
  CHECK_EQ(in[length], -1);

  fill(length, 9);
  CHECK_OK(
      MPI_Isendrecv_replace(out, length, MPI_INT, right, 6, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request));
  for (int done = 0; !done;) CHECK_OK(MPI_Test(&request, &done, &status));
  check_status(&status, left, 6, length);
  check_filled(out, length, left, 9);

  fill(length, 11);
  CHECK_OK(MPI_Isendrecv_c(out, length, MPI_INT, left, 5, in, length, MPI_INT, right, MPI_ANY_TAG,
                           MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  check_status(&status, right, 5, length);
  check_filled(in, length, right, 11);
  MPI_Barrier(MPI_COMM_WORLD); /* the wildcards must not see the next round */
}

/* They match plain sends and receives. */
static void with_plain(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  fill(3000, 1);
  CHECK_OK(MPI_Irecv(in, 3000, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[0]));
  int got = -1;
  CHECK_OK(
      MPI_Isendrecv(out, 3000, MPI_INT, right, 8, &got, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[1]));
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, right, 9, MPI_COMM_WORLD));
  CHECK_OK(MPI_Waitall(2, requests, statuses));
  check_status(&statuses[0], left, 8, 3000);
  check_status(&statuses[1], left, 9, 1);
  check_filled(in, 3000, left, 1);
  CHECK_EQ(got, left);
}

static void with_nobody(void) {
  MPI_Request request;
  MPI_Status status;
  int value = 5, got = -1;
  CHECK_OK(MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &got, 1, MPI_INT, MPI_PROC_NULL, 1,
                         MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  CHECK_EQ(got, -1);
  /* The ends of a line. */
  const int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, previous = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  value = rank;
  CHECK_OK(MPI_Isendrecv_replace_c(&value, 1, MPI_INT, next, 2, previous, 2, MPI_COMM_WORLD, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQ(value, rank > 0 ? rank - 1 : rank);
  CHECK_EQ(status.MPI_SOURCE, previous);
}

/* A request that is freed goes on; datatypes may be freed, and differ between the two. */
static void freed_early(void) {
  MPI_Datatype pairs, columns;
  MPI_Request request;
  fill(30000, 3);
  MPI_Type_contiguous(2, MPI_INT, &pairs);
  MPI_Type_vector(10000, 1, 3, MPI_INT, &columns);
  MPI_Type_commit(&pairs);
  MPI_Type_commit(&columns);
  CHECK_OK(MPI_Isendrecv(out, 5000, pairs, right, 4, in, 1, columns, left, 4, MPI_COMM_WORLD, &request));
  MPI_Type_free(&pairs);
  MPI_Type_free(&columns);
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < 10000; ++i)
    if (in[3 * i] != 1000 * left + 3 + i) {
      CHECK_EQ(in[3 * i], 1000 * left + 3 + i);
      break;
    }

  fill(20000, 13);
  CHECK_OK(MPI_Isendrecv(out, 20000, MPI_INT, right, 4, NULL, 0, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD,
                         &request));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_EQ(request, MPI_REQUEST_NULL);
  CHECK_OK(MPI_Recv(in, 20000, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  check_filled(in, 20000, left, 13);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void errors(void) {
  MPI_Request request;
  int values[2] = {rank, rank}, got = -1, flag = 1;
  CHECK_OK(MPI_Isendrecv(values, 2, MPI_INT, right, 3, &got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  CHECK_EQ(request, MPI_REQUEST_NULL);
  CHECK_EQ(got, left);
  CHECK_CLASS(MPI_Isendrecv(values, -1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isendrecv(values, 1, MPI_INT, 0, 3, &got, -1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isendrecv(values, 1, MPI_INT, size, 3, &got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request),
              MPI_ERR_RANK);
  CHECK_CLASS(
      MPI_Isendrecv(values, 1, MPI_INT, 0, MPI_ANY_TAG, &got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request),
      MPI_ERR_TAG);
  CHECK_CLASS(
      MPI_Isendrecv_replace(&got, 1, MPI_DATATYPE_NULL, 0, 3, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request),
      MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Isendrecv_replace(&got, 1, MPI_INT, 0, 3, 0, 3, MPI_COMM_NULL, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Isendrecv_replace(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, 0, 3, MPI_COMM_WORLD, &request),
              MPI_ERR_RANK);
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE)); /* nothing was sent */
  CHECK_EQ(flag, 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  const int lengths[] = {0, 1, 10, 1000, 5000, LONGEST};
  for (int i = 0; i < 6; ++i) ring(lengths[i]);
  with_plain();
  with_nobody();
  freed_early();
  MPI_Barrier(MPI_COMM_WORLD);
  errors();
  MPI_Finalize();
  return check_result();
}
