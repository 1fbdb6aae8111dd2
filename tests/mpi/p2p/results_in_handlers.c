/* An error handler finds statuses, requests and indices as the call leaves them, and so does a program whose
 * handler leaves the call by longjmp. */
#include <setjmp.h>

#include "check.h"

enum { kFine = 3, kLong = 4 };
static MPI_Comm comm;
static MPI_Request requests[2];
static MPI_Status statuses[2];
static int from[4], to[2][4], indices[2], count, calls, jumps;
static jmp_buf back;

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

/* Of the message that is too long: what the status says, and that the request has gone. */
static void look_at_one(int status, int request) {
  CHECK_EQ(statuses[status].MPI_SOURCE, 0);
  CHECK_EQ(statuses[status].MPI_TAG, kLong);
  CHECK(requests[request] == MPI_REQUEST_NULL);
}

static void look_at_both(void) {
  CHECK_EQ(statuses[0].MPI_TAG, kFine);
  CHECK_EQ(class_of(statuses[0].MPI_ERROR), MPI_SUCCESS);
  CHECK_EQ(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
  CHECK(requests[0] == MPI_REQUEST_NULL);
  look_at_one(1, 1);
}

static void (*look)(void);
static void look_at_first(void) { look_at_one(0, 1); }

static void handler(MPI_Comm* which, int* code, ...) {
  (void)which, (void)code;
  ++calls;
  look();
  if (jumps) longjmp(back, 1);
}

static void begin(void) {
  for (int i = 0; i < 2; ++i) {
    statuses[i].MPI_SOURCE = statuses[i].MPI_TAG = statuses[i].MPI_ERROR = -77;
    MPI_Irecv(to[i], i == 0 ? 4 : 1, MPI_INT, 0, i == 0 ? kFine : kLong, comm, &requests[i]);
  }
  MPI_Send(from, 2, MPI_INT, 0, kFine, comm);
  MPI_Send(from, 3, MPI_INT, 0, kLong, comm);
}

/* Completes the first one alone. */
static void begin_with_one(void) {
  begin();
  CHECK_EQ(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
}

typedef int Call(void);
static int wait_all(void) { return MPI_Waitall(2, requests, statuses); }
static int test_all(void) { return MPI_Testall(2, requests, &count, statuses); }
static int wait_some(void) { return MPI_Waitsome(2, requests, &count, indices, statuses); }
static int wait_one(void) { return MPI_Wait(&requests[1], statuses); }
static int test_one(void) { return MPI_Test(&requests[1], &count, statuses); }
static int wait_any(void) { return MPI_Waitany(2, requests, indices, statuses); }
static int receive(void) {
  requests[1] = MPI_REQUEST_NULL;
  MPI_Request sent;
  MPI_Isend(from, 3, MPI_INT, 0, kLong, comm, &sent);
  MPI_Request_free(&sent);
  return MPI_Recv(to[0], 1, MPI_INT, 0, kLong, comm, statuses);
}

/* A call that is left by longjmp keeps a reference to its communicator, which LeakSanitizer reports. */
extern void __asan_init(void) __attribute__((weak));

static void try(Call* call, void (*first)(void), void (*what)(void)) {
  for (jumps = 0; jumps < (__asan_init != NULL ? 1 : 2); ++jumps) {
    look = what;
    calls = 0;
    if (first != NULL) first();
    if (setjmp(back) == 0) CHECK(call() != MPI_SUCCESS);
    CHECK_EQ(calls, 1);
    look();
  }
}

int main(int argc, char** argv) {
  MPI_Errhandler errhandler;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(comm, errhandler);
  try(wait_all, begin, look_at_both);
  try(test_all, begin, look_at_both);
  try(wait_some, begin, look_at_both);
  try(wait_one, begin_with_one, look_at_first);
  try(test_one, begin_with_one, look_at_first);
  try(wait_any, begin_with_one, look_at_first);
  try(receive, NULL, look_at_first);
  CHECK_EQ(indices[0], 1);
  MPI_Errhandler_free(&errhandler);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return check_result();
}
