/* Messages with large counts, in all modes: blocking, non-blocking, persistent, matched. What they do with
 * the data the other tests have seen, as both forms share their code. */
#include "check.h"

enum { kLength = 3 };
static int rank, size, right, left;
static int out[kLength], in[kLength];

static void begin(void) {
  for (int i = 0; i < kLength; ++i) out[i] = rank * 10 + i, in[i] = -1;
}

static void check_arrival(const MPI_Status* status) {
  MPI_Count count = -1;
  CHECK_OK(MPI_Get_count_c(status, MPI_INT, &count));
  CHECK_EQ(count, kLength);
  CHECK_EQ(status->MPI_SOURCE, left);
  for (int i = 0; i < kLength; ++i) CHECK_EQ(in[i], left * 10 + i);
}

typedef int (*send_function)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int (*start_function)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

/* The receive is there before anyone sends, as ready sends want it. */
static void test_blocking(void) {
  const send_function sends[] = {MPI_Send_c, MPI_Bsend_c, MPI_Ssend_c, MPI_Rsend_c};
  MPI_Request request;
  MPI_Status status;
  for (size_t mode = 0; mode < sizeof sends / sizeof sends[0]; ++mode) {
    begin();
    CHECK_OK(MPI_Irecv_c(in, kLength, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(sends[mode](out, kLength, MPI_INT, right, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, &status));
    check_arrival(&status);
  }
}

static void test_nonblocking(void) {
  const start_function sends[] = {MPI_Isend_c, MPI_Ibsend_c, MPI_Issend_c};
  MPI_Request request;
  MPI_Status status;
  for (size_t mode = 0; mode < sizeof sends / sizeof sends[0]; ++mode) {
    begin();
    CHECK_OK(sends[mode](out, kLength, MPI_INT, right, 2, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Recv_c(in, kLength, MPI_INT, left, 2, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_arrival(&status);
  }
}

/* Both forms: what is ready needs a receive. */
static void test_ready(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int large = 0; large < 3; ++large) {
    begin();
    CHECK_OK(MPI_Irecv_c(in, kLength, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (large == 0) CHECK_OK(MPI_Irsend(out, kLength, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[1]));
    if (large == 1) CHECK_OK(MPI_Irsend_c(out, kLength, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[1]));
    if (large == 2) {
      CHECK_OK(MPI_Rsend(out, kLength, MPI_INT, right, 3, MPI_COMM_WORLD));
      requests[1] = MPI_REQUEST_NULL;
    }
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    check_arrival(&statuses[0]);
  }
}

static void test_persistent(void) {
  const start_function sends[] = {MPI_Send_init_c, MPI_Bsend_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (size_t mode = 0; mode < sizeof sends / sizeof sends[0]; ++mode) {
    CHECK_OK(MPI_Recv_init_c(in, kLength, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(sends[mode](out, kLength, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < 2; ++round) {
      begin();
      CHECK_OK(MPI_Start(&requests[0]));
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(MPI_Start(&requests[1]));
      CHECK_OK(MPI_Waitall(2, requests, statuses));
      check_arrival(&statuses[0]);
    }
    for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
  }
}

static void test_both_ways(void) {
  MPI_Status status;
  begin();
  CHECK_OK(MPI_Sendrecv_c(out, kLength, MPI_INT, right, 5, in, kLength, MPI_INT, left, 5, MPI_COMM_WORLD,
                          &status));
  check_arrival(&status);
  begin();
  memcpy(in, out, sizeof in);
  CHECK_OK(MPI_Sendrecv_replace_c(in, kLength, MPI_INT, right, 5, left, 5, MPI_COMM_WORLD, &status));
  check_arrival(&status);
}

static void test_matched(void) {
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Status status;
  for (int blocking = 0; blocking < 2; ++blocking) {
    begin();
    CHECK_OK(MPI_Isend_c(out, kLength, MPI_INT, right, 6, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Mprobe(left, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    CHECK_EQ(MPI_Message_fromint(MPI_Message_toint(message)), message);
    if (blocking) {
      CHECK_OK(MPI_Mrecv_c(in, kLength, MPI_INT, &message, &status));
    } else {
      CHECK_OK(MPI_Imrecv_c(in, kLength, MPI_INT, &message, &requests[1]));
      CHECK_OK(MPI_Wait(&requests[1], &status));
    }
    CHECK_EQ(message, MPI_MESSAGE_NULL);
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    check_arrival(&status);
  }
}

/* Counts that an int does not hold are not cut off; elements without bytes need no memory. */
static void test_beyond_int(void) {
  const MPI_Count many = (MPI_Count)1 << 33;
  MPI_Datatype nothing;
  char text[MPI_MAX_ERROR_STRING];
  int text_length = 0;
  CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
  CHECK_OK(MPI_Type_commit(&nothing));
  CHECK_OK(MPI_Sendrecv_c(out, many, nothing, right, 7, in, many, nothing, left, 7, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Type_free(&nothing));
  const int code = MPI_Recv_c(in, -many, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK_CLASS(code, MPI_ERR_COUNT);
  MPI_Error_string(code, text, &text_length);
  CHECK(strstr(text, "count = -8589934592") != NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  right = (rank + 1) % size;
  left = (rank + size - 1) % size;
  enum { kRoom = 8 * (kLength * (int)sizeof(int) + MPI_BSEND_OVERHEAD) };
  static char room[kRoom];
  void* detached;
  MPI_Count room_size = 0;
  CHECK_OK(MPI_Buffer_attach_c(room, kRoom));
  test_blocking();
  test_nonblocking();
  test_ready();
  test_persistent();
  test_both_ways();
  test_matched();
  test_beyond_int();
  CHECK_OK(MPI_Buffer_detach_c(&detached, &room_size));
  CHECK_EQ(room_size, kRoom);
  MPI_Finalize();
  return check_result();
}
