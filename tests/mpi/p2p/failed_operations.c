/* Operations that fail: what each completing call returns, which error handler is called, and what the
 * statuses say. The second of three receives gets a message that is too long. */
#include "check.h"

static int rank;
static MPI_Comm comms[2];
static int handled[2]; /* how often the error handler of each communicator was called */
static int values[3];
static MPI_Request requests[3];
static MPI_Status statuses[3];

/* It gets what the call returns: MPI_ERR_IN_STATUS as such, with which programs compare it (MPI-5.0
 * section 3.7.5). */
static void handler(MPI_Comm* comm, int* code, ...) {
  int error_class = 0;
  MPI_Error_class(*code, &error_class);
  CHECK(*code == MPI_ERR_IN_STATUS || error_class == MPI_ERR_TRUNCATE);
  ++handled[*comm == comms[1]];
}

/* Receives on two communicators that are complete, the second of them with an error. */
static void begin(void) {
  const int message[2] = {10, 20};
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, comms[i == 1], &requests[i]));
    CHECK_OK(MPI_Send(message, i == 1 ? 2 : 1, MPI_INT, 0, i, comms[i == 1]));
    statuses[i].MPI_ERROR = 4711;
  }
  handled[0] = handled[1] = 0;
}

static void check_handled(int times) {
  CHECK_EQ(handled[0], 0);
  CHECK_EQ(handled[1], times); /* the one whose communicator the failed operation has */
}

static void check_statuses(void) {
  int error_class = 0;
  CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  MPI_Error_class(statuses[1].MPI_ERROR, &error_class);
  CHECK_EQ(error_class, MPI_ERR_TRUNCATE);
  CHECK_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) CHECK_EQ(statuses[i].MPI_TAG, i);
}

static void check_completed(void) {
  for (int i = 0; i < 3; ++i) CHECK_EQ(requests[i], MPI_REQUEST_NULL);
  for (int i = 0; i < 3; ++i) CHECK_EQ(values[i], 10);
}

static void all_at_once(void) {
  int flag = 0, count = 0, indices[3];
  begin();
  CHECK_EQ(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
  check_handled(1);
  check_statuses();
  check_completed();
  begin();
  CHECK_EQ(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
  check_handled(1);
  check_completed();
  begin();
  CHECK_EQ(MPI_Testall(3, requests, &flag, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(flag, 1);
  check_handled(1);
  check_statuses();
  check_completed();
  begin();
  CHECK_EQ(MPI_Waitsome(3, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(count, 3);
  check_handled(1);
  check_statuses();
  check_completed();
  begin();
  CHECK_EQ(MPI_Testsome(3, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(count, 3);
  check_handled(1);
  check_statuses();
  check_completed();
}

/* The same code without a handler of the program. */
static void returned(void) {
  for (int i = 0; i < 2; ++i) MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
  begin();
  CHECK_EQ(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
  check_statuses();
  check_completed();
}

/* Calls that only look say the same, as often as they are asked. */
static void looking(void) {
  int flag = 0, count = 0, indices[3];
  begin();
  CHECK_EQ(MPI_Request_get_status_all(3, requests, &flag, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(flag, 1);
  check_statuses();
  CHECK_EQ(MPI_Request_get_status_some(3, requests, &count, indices, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(count, 3);
  check_statuses();
  CHECK_CLASS(MPI_Request_get_status(requests[1], &flag, statuses), MPI_ERR_TRUNCATE);
  CHECK_EQ(flag, 1);
  check_handled(3);
  for (int i = 0; i < 3; ++i) CHECK(requests[i] != MPI_REQUEST_NULL);
  CHECK_EQ(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
  check_completed();
}

/* A single completion returns the operation's own error, and leaves MPI_ERROR alone. */
static void one_by_one(void) {
  int flag = 0, index = -1, failures = 0;
  begin();
  CHECK_OK(MPI_Wait(&requests[0], statuses));
  CHECK_CLASS(MPI_Wait(&requests[1], &statuses[1]), MPI_ERR_TRUNCATE);
  CHECK_EQ(statuses[1].MPI_ERROR, 4711);
  CHECK_OK(MPI_Test(&requests[2], &flag, statuses));
  CHECK_EQ(flag, 1);
  check_handled(1);
  check_completed();
  begin();
  CHECK_CLASS(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)); /* what has failed is over */
  check_completed();
  begin();
  for (int i = 0; i < 3; ++i) failures += MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  CHECK_EQ(failures, 1);
  check_handled(1);
  check_completed();
  begin();
  for (int i = 0; i < 3; ++i)
    failures += MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  CHECK_EQ(failures, 2);
  check_completed();
}

/* A persistent receive that failed can be started again. */
static void persistent(void) {
  const int message[2] = {10, 20};
  MPI_Request request;
  CHECK_OK(MPI_Recv_init(values, 1, MPI_INT, 0, 5, comms[1], &request));
  for (int length = 2; length > 0; --length) {
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Send(message, length, MPI_INT, 0, 5, comms[1]));
    CHECK_CLASS(MPI_Wait(&request, statuses), length == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK_OK(MPI_Wait(&request, statuses)); /* inactive */
    CHECK_EQ(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  }
  CHECK_OK(MPI_Request_free(&request));
  /* A buffered send finds no buffer when it is started, and stays inactive. */
  CHECK_OK(MPI_Bsend_init(message, 1, MPI_INT, 0, 5, comms[1], &request));
  MPI_Comm_set_errhandler(comms[1], MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Wait(&request, statuses));
  CHECK_EQ(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char** argv) {
  MPI_Errhandler errhandler;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(handler, &errhandler);
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    MPI_Comm_set_errhandler(comms[i], errhandler);
  }
  all_at_once();
  looking();
  one_by_one();
  persistent();
  returned();
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
  MPI_Errhandler_free(&errhandler);
  MPI_Finalize();
  return check_result();
}
