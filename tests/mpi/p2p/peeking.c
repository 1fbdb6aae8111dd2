/* MPI_Request_get_status and its family: they say what the completing calls would, and leave the requests. */
#include "check.h"

enum { MOST = 16 };
static int rank, size;
static int values[MOST];
static MPI_Request requests[MOST], copies[MOST];

static void begin_receives(int tag) {
  for (int i = 0; i < size; ++i) {
    values[i] = -1;
    CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, i, tag, MPI_COMM_WORLD, &requests[i]));
    copies[i] = requests[i];
  }
}

static void send_to_all(int tag) {
  for (int i = 0; i < size; ++i) CHECK_OK(MPI_Send(&rank, 1, MPI_INT, i, tag, MPI_COMM_WORLD));
}

static void finish_receives(int tag) {
  MPI_Status statuses[MOST];
  for (int i = 0; i < size; ++i) CHECK_EQ(requests[i], copies[i]); /* nobody has completed them */
  CHECK_OK(MPI_Waitall(size, requests, statuses));
  for (int i = 0; i < size; ++i) {
    CHECK_EQ(requests[i], MPI_REQUEST_NULL);
    CHECK_EQ(statuses[i].MPI_SOURCE, i);
    CHECK_EQ(statuses[i].MPI_TAG, tag);
    CHECK_EQ(values[i], i);
  }
}

static void pending(void) {
  int flag = -1, index = -1, count = -1, indices[MOST];
  MPI_Status statuses[MOST];
  begin_receives(1);
  CHECK_OK(MPI_Request_get_status(requests[0], &flag, statuses));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Request_get_status_all(size, requests, &flag, statuses));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Request_get_status_any(size, requests, &index, &flag, statuses));
  CHECK_EQ(flag, 0);
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_OK(MPI_Request_get_status_some(size, requests, &count, indices, statuses));
  CHECK_EQ(count, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  send_to_all(1);
  finish_receives(1);
}

static void all_and_any(void) {
  MPI_Status statuses[MOST];
  int seen[MOST] = {0};
  begin_receives(2);
  send_to_all(2);
  for (int flag = 0; !flag;) CHECK_OK(MPI_Request_get_status_all(size, requests, &flag, statuses));
  for (int i = 0; i < size; ++i) CHECK_EQ(statuses[i].MPI_SOURCE, i);
  for (int round = 0; round < 3 * size; ++round) { /* none is passed over for ever */
    int flag = 0, index = -1;
    CHECK_OK(MPI_Request_get_status_any(size, requests, &index, &flag, statuses));
    CHECK_EQ(flag, 1);
    CHECK(index >= 0 && index < size);
    CHECK_EQ(statuses[0].MPI_SOURCE, index);
    if (index >= 0 && index < size) ++seen[index];
  }
  for (int i = 0; i < size; ++i) CHECK(seen[i] > 0);
  CHECK_OK(MPI_Request_get_status_all(size, requests, &(int){0}, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Request_get_status_any(size, requests, &(int){0}, &(int){0}, MPI_STATUS_IGNORE));
  finish_receives(2);
}

static void some(void) {
  MPI_Status statuses[MOST];
  int indices[MOST], count = 0;
  begin_receives(3);
  send_to_all(3);
  while (count < size) {
    CHECK_OK(MPI_Request_get_status_some(size, requests, &count, indices, statuses));
    CHECK(count >= 0);
    for (int i = 0; i < count; ++i) CHECK_EQ(statuses[i].MPI_SOURCE, indices[i]);
  }
  CHECK_OK(MPI_Request_get_status_some(size, requests, &count, indices, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, size);
  finish_receives(3);
}

/* Null and inactive requests are complete, with an empty status. */
static void nothing_there(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int value = 0, flag = 0, index = 0, count = 0, indices[3];
  CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &none[1]));
  memset(statuses, 0x55, sizeof statuses);
  CHECK_OK(MPI_Request_get_status(none[1], &flag, statuses));
  CHECK_EQ(flag, 1);
  CHECK_EQ(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_OK(MPI_Request_get_status_all(3, none, &flag, statuses));
  CHECK_EQ(flag, 1);
  for (int i = 0; i < 3; ++i) {
    int elements = -1;
    CHECK_EQ(statuses[i].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQ(statuses[i].MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&statuses[i], MPI_INT, &elements);
    CHECK_EQ(elements, 0);
  }
  memset(statuses, 0x55, sizeof statuses);
  CHECK_OK(MPI_Request_get_status_any(3, none, &index, &flag, statuses));
  CHECK_EQ(flag, 1);
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_EQ(statuses[0].MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Request_get_status_some(3, none, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Request_get_status_some(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, MPI_UNDEFINED);
  CHECK_OK(MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE));
  CHECK_EQ(flag, 1);
  /* A persistent request stays active while it is only looked at. */
  CHECK_OK(MPI_Start(&none[1]));
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, 9, MPI_COMM_SELF));
  CHECK_OK(MPI_Request_get_status_any(3, none, &index, &flag, statuses));
  CHECK_EQ(flag, 1);
  CHECK_EQ(index, 1);
  CHECK_CLASS(MPI_Start(&none[1]), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Wait(&none[1], MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(&none[1]));
}

static void errors(void) {
  const MPI_Request unknown = (MPI_Request)(long)0x123456;
  MPI_Request some_of_them[2] = {MPI_REQUEST_NULL, unknown};
  MPI_Status statuses[2];
  int flag, index, count, indices[2];
  CHECK_CLASS(MPI_Request_get_status(unknown, &flag, statuses), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_get_status(MPI_REQUEST_NULL, NULL, statuses), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Request_get_status_all(2, some_of_them, &flag, statuses), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_get_status_all(-1, some_of_them, &flag, statuses), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Request_get_status_all(2, NULL, &flag, statuses), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Request_get_status_any(2, some_of_them, &index, &flag, statuses), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_get_status_any(2, some_of_them, NULL, &flag, statuses), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Request_get_status_some(2, some_of_them, &count, indices, statuses), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_get_status_some(2, some_of_them, NULL, indices, statuses), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  pending();
  for (int round = 0; round < 5; ++round) {
    all_and_any();
    some();
  }
  nothing_there();
  errors();
  MPI_Finalize();
  return check_result();
}
