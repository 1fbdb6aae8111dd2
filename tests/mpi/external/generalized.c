/* Generalised requests: what is asked of the user's functions, when, and what becomes of the answers. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static int rank;

struct operation {
  int queried, freed, cancelled; /* how often the functions were called */
  int told_complete;             /* by MPI_Cancel */
  int query_result, free_result, cancel_result;
  MPI_Request request;
};

static int query(void* state, MPI_Status* status) {
  struct operation* operation = state;
  CHECK(status != MPI_STATUS_IGNORE);
  ++operation->queried;
  MPI_Status_set_elements(status, MPI_INT, 7);
  MPI_Status_set_cancelled(status, operation->cancelled > 0);
  MPI_Status_set_source(status, 42);
  MPI_Status_set_tag(status, 43);
  return operation->query_result;
}

static int forget(void* state) {
  struct operation* operation = state;
  ++operation->freed;
  return operation->free_result;
}

static int cancel(void* state, int complete) {
  struct operation* operation = state;
  ++operation->cancelled;
  operation->told_complete = complete;
  return operation->cancel_result;
}

static struct operation begin(void) { return (struct operation){.told_complete = -1}; }

static void start(struct operation* operation) {
  CHECK_OK(MPI_Grequest_start(query, forget, cancel, operation, &operation->request));
  CHECK(operation->request != MPI_REQUEST_NULL);
}

static void check_status(const MPI_Status* status) {
  int count = 0;
  CHECK_EQ(status->MPI_SOURCE, 42);
  CHECK_EQ(status->MPI_TAG, 43);
  MPI_Get_count(status, MPI_INT, &count);
  CHECK_EQ(count, 7);
}

static void check_calls(const struct operation* operation, int queried, int freed) {
  CHECK_EQ(operation->queried, queried);
  CHECK_EQ(operation->freed, freed);
}

static void tested_and_waited_for(void) {
  struct operation operation = begin();
  MPI_Status status;
  int flag = -1, cancelled = -1;
  start(&operation);
  CHECK_OK(MPI_Test(&operation.request, &flag, &status));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Request_get_status(operation.request, &flag, &status));
  CHECK_EQ(flag, 0);
  check_calls(&operation, 0, 0);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  check_calls(&operation, 0, 0);
  for (int times = 1; times <= 3; ++times) { /* each look asks */
    CHECK_OK(MPI_Request_get_status(operation.request, &flag, times == 2 ? MPI_STATUS_IGNORE : &status));
    CHECK_EQ(flag, 1);
    check_calls(&operation, times, 0);
  }
  memset(&status, 0x55, sizeof status);
  CHECK_OK(MPI_Wait(&operation.request, &status));
  CHECK_EQ(operation.request, MPI_REQUEST_NULL);
  check_calls(&operation, 4, 1);
  check_status(&status);
  CHECK_OK(MPI_Test_cancelled(&status, &cancelled));
  CHECK_EQ(cancelled, 0);

  operation = begin();
  start(&operation);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  CHECK_OK(MPI_Test(&operation.request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 1);
  check_calls(&operation, 1, 1);
}

/* Together with operations of MPI's own. */
static void several(void) {
  struct operation operations[3];
  MPI_Request requests[4];
  MPI_Status statuses[4];
  int value = 0, index = -1, flag = 0, count = 0, indices[4];
  for (int way = 0; way < 5; ++way) {
    CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, 0, way, MPI_COMM_SELF, &requests[1]));
    for (int i = 0; i < 3; ++i) {
      operations[i] = begin();
      start(&operations[i]);
      requests[i == 0 ? 0 : i + 1] = operations[i].request;
    }
    CHECK_OK(MPI_Testall(4, requests, &flag, statuses));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Testsome(4, requests, &count, indices, statuses));
    CHECK_EQ(count, 0);
    for (int i = 2; i >= 0; --i) CHECK_OK(MPI_Grequest_complete(operations[i].request));
    CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, way, MPI_COMM_SELF));
    if (way == 0) {
      CHECK_OK(MPI_Waitall(4, requests, statuses));
      check_status(&statuses[0]);
      CHECK_EQ(statuses[1].MPI_TAG, way);
      check_status(&statuses[3]);
    } else if (way == 1) {
      CHECK_OK(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
      CHECK_EQ(flag, 1);
    } else if (way == 2) {
      CHECK_OK(MPI_Waitsome(4, requests, &count, indices, statuses));
      CHECK_EQ(count, 4);
      check_status(&statuses[2]);
    } else if (way == 3) {
      for (int i = 0; i < 4; ++i) {
        CHECK_OK(MPI_Waitany(4, requests, &index, statuses));
        if (index != 1) check_status(statuses);
      }
    } else {
      CHECK_OK(MPI_Request_get_status_all(4, requests, &flag, statuses));
      CHECK_EQ(flag, 1);
      check_status(&statuses[3]);
      CHECK_OK(MPI_Request_get_status_some(4, requests, &count, indices, statuses));
      CHECK_EQ(count, 4);
      for (int i = 0; i < 3; ++i) check_calls(&operations[i], 2, 0);
      for (int i = 0; i < 4; ++i) CHECK_OK(MPI_Testany(4, requests, &index, &flag, statuses));
    }
    for (int i = 0; i < 3; ++i) check_calls(&operations[i], way == 4 ? 3 : 1, 1);
    for (int i = 0; i < 4; ++i) CHECK_EQ(requests[i], MPI_REQUEST_NULL);
  }
}

/* Freed before and after it is complete: the user's function is called when both have happened. */
static void freed(void) {
  struct operation operation = begin();
  start(&operation);
  MPI_Request copy = operation.request;
  CHECK_OK(MPI_Request_free(&operation.request));
  CHECK_EQ(operation.request, MPI_REQUEST_NULL);
  check_calls(&operation, 0, 0);
  CHECK_OK(MPI_Grequest_complete(copy));
  check_calls(&operation, 0, 1);
  CHECK_CLASS(MPI_Grequest_complete(copy), MPI_ERR_REQUEST); /* gone */

  operation = begin();
  start(&operation);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  CHECK_OK(MPI_Request_free(&operation.request));
  CHECK_EQ(operation.request, MPI_REQUEST_NULL);
  check_calls(&operation, 0, 1);
}

static void cancelled(void) {
  struct operation operation = begin();
  MPI_Status status;
  int flag = 0;
  start(&operation);
  CHECK_OK(MPI_Cancel(&operation.request));
  CHECK_EQ(operation.cancelled, 1);
  CHECK_EQ(operation.told_complete, 0);
  CHECK_OK(MPI_Test(&operation.request, &flag, &status)); /* that is for the user to complete */
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  operation.cancel_result = MPI_ERR_OTHER;
  CHECK_CLASS(MPI_Cancel(&operation.request), MPI_ERR_OTHER);
  CHECK_EQ(operation.told_complete, 1);
  CHECK_OK(MPI_Wait(&operation.request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 1);
}

/* Errors of the user's functions are those of the call that invoked them; of two errors the last counts. */
static void errors(void) {
  struct operation operation = begin(), other = begin();
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int flag = 0, code = 0, users_class = 0;
  MPI_Add_error_class(&users_class);
  MPI_Add_error_code(users_class, &code);

  operation.query_result = MPI_ERR_OTHER;
  operation.free_result = code;
  start(&operation);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  CHECK_CLASS(MPI_Request_get_status(operation.request, &flag, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  CHECK_EQ(flag, 1);
  CHECK_EQ(MPI_Wait(&operation.request, MPI_STATUS_IGNORE), code);
  CHECK_EQ(operation.request, MPI_REQUEST_NULL);
  check_calls(&operation, 2, 1);

  operation = begin();
  operation.query_result = MPI_ERR_OTHER;
  start(&operation);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  CHECK_CLASS(MPI_Wait(&operation.request, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  check_calls(&operation, 1, 1);

  operation = begin();
  operation.free_result = code;
  start(&operation);
  start(&other);
  requests[0] = other.request, requests[1] = operation.request;
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Grequest_complete(requests[i]));
  CHECK_CLASS(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
  CHECK_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  CHECK_EQ(statuses[1].MPI_ERROR, code);

  operation = begin();
  operation.free_result = code;
  start(&operation);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  CHECK_EQ(MPI_Request_free(&operation.request), code);

  MPI_Request plain;
  int value;
  CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &plain));
  CHECK_CLASS(MPI_Grequest_complete(plain), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Cancel(&plain));
  CHECK_OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
  CHECK_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  operation = begin();
  start(&operation);
  CHECK_OK(MPI_Grequest_complete(operation.request));
  CHECK_CLASS(MPI_Grequest_complete(operation.request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Start(&operation.request), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Wait(&operation.request, MPI_STATUS_IGNORE));
  CHECK_CLASS(MPI_Grequest_start(NULL, forget, cancel, NULL, &plain), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, NULL, cancel, NULL, &plain), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, forget, NULL, NULL, &plain), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Grequest_start(query, forget, cancel, NULL, NULL), MPI_ERR_ARG);
}

/* What they are for: another thread does the work while MPI waits. */
static void* work(void* argument) {
  struct operation* operations = argument;
  for (int i = 0; i < 50; ++i) {
    if (i % 10 == 0) usleep(200);
    MPI_Grequest_complete(operations[i].request);
  }
  return NULL;
}

static void by_a_thread(void) {
  struct operation operations[50];
  MPI_Request requests[50];
  pthread_t worker;
  for (int i = 0; i < 50; ++i) {
    operations[i] = begin();
    start(&operations[i]);
    requests[i] = operations[i].request;
  }
  pthread_create(&worker, NULL, work, operations);
  for (int left = 50; left > 0;) {
    int count, indices[50];
    CHECK_OK(MPI_Waitsome(50, requests, &count, indices, MPI_STATUSES_IGNORE));
    left -= count;
  }
  pthread_join(worker, NULL);
  for (int i = 0; i < 50; ++i) check_calls(&operations[i], 1, 1);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  tested_and_waited_for();
  several();
  freed();
  cancelled();
  errors();
  for (int round = 0; round < 5; ++round) by_a_thread();
  MPI_Finalize();
  return check_result();
}
