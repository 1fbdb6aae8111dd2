/* Lengths of the queues: of all, of one communicator, and the highest mark. */
#include "tools.h"

static int rank;
static MPI_T_pvar_session session;

static void send_to_myself(int messages, int bytes, MPI_Comm comm) {
  static char data[1000];
  int self;
  MPI_Comm_rank(comm, &self);
  for (int i = 0; i < messages; ++i) CHECK_OK(MPI_Send(data, bytes, MPI_CHAR, self, 5, comm));
}

static void receive_from_myself(int messages, MPI_Comm comm) {
  static char data[1000];
  for (int i = 0; i < messages; ++i)
    CHECK_OK(MPI_Recv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE));
}

static void unexpected(void) {
  MPI_Comm one = MPI_COMM_SELF, two;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &two));
  MPI_T_pvar_handle all = open_meter(session, "unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle of_one = open_meter(session, "comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &one);
  MPI_T_pvar_handle of_two = open_meter(session, "comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &two);
  MPI_T_pvar_handle bytes_of_two = open_meter(session, "comm_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, &two);
  MPI_T_pvar_handle most =
      open_meter(session, "most_unexpected_messages", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  MPI_T_pvar_handle other_most =
      open_meter(session, "most_unexpected_messages", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  CHECK_EQ(read_meter(session, all), 0);
  send_to_myself(1, 10, one);
  T_OK(MPI_T_pvar_start(session, most));
  CHECK_EQ(read_meter(session, most), 1); /* it begins with what is there */
  send_to_myself(2, 10, one);
  send_to_myself(3, 100, two);
  CHECK_EQ(read_meter(session, all), 6);
  CHECK_EQ(read_meter(session, of_one), 3);
  CHECK_EQ(read_meter(session, of_two), 3);
  CHECK_EQ(read_meter(session, bytes_of_two), 300);
  CHECK_EQ(read_meter(session, most), 6);
  receive_from_myself(3, two);
  CHECK_EQ(read_meter(session, all), 3);
  CHECK_EQ(read_meter(session, of_two), 0);
  CHECK_EQ(read_meter(session, most), 6);
  T_OK(MPI_T_pvar_start(session, other_most));
  T_OK(MPI_T_pvar_reset(session, most));
  CHECK_EQ(read_meter(session, most), 3);
  send_to_myself(1, 10, two);
  T_OK(MPI_T_pvar_stop(session, most));
  send_to_myself(1, 10, two);
  CHECK_EQ(read_meter(session, most), 4);
  CHECK_EQ(read_meter(session, other_most), 5);
  unsigned long long value = 3;
  T_OK(MPI_T_pvar_write(session, other_most, &value));
  CHECK_EQ(read_meter(session, other_most), 3);
  CHECK_EQ(MPI_T_pvar_readreset(session, most, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
  receive_from_myself(2, two);
  receive_from_myself(3, one);
  CHECK_EQ(read_meter(session, all), 0);
  CHECK_OK(MPI_Comm_free(&two));
}

static void posted(void) {
  MPI_Comm comm = MPI_COMM_SELF;
  MPI_Request requests[3];
  int value[3] = {0};
  MPI_T_pvar_handle all = open_meter(session, "posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle of_comm = open_meter(session, "comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &comm);
  const unsigned long long before = read_meter(session, all);
  CHECK_OK(MPI_Irecv(&value[0], 1, MPI_INT, 0, 7, MPI_COMM_SELF, &requests[0]));
  CHECK_OK(MPI_Irecv(&value[1], 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_SELF, &requests[1]));
  CHECK_OK(MPI_Irecv(&value[2], 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[2]));
  CHECK_EQ(read_meter(session, all), before + 3);
  CHECK_EQ(read_meter(session, of_comm), 2);
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, 8, MPI_COMM_SELF));
  CHECK_EQ(read_meter(session, of_comm), 1);
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_SELF));
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, rank, 9, MPI_COMM_WORLD));
  CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(read_meter(session, all), before);
}

/* With a small limit a few messages crowd the rank. */
static void crowding(void) {
  enum { kMessages = 100 };
  static char data[16000];
  MPI_Request requests[kMessages];
  MPI_T_cvar_handle limit;
  MPI_Count before = 0, small = 1 << 20;
  int count, state = -1;
  MPI_T_pvar_handle crowded = open_meter(session, "crowding", MPI_T_PVAR_CLASS_STATE, NULL);
  T_OK(MPI_T_cvar_handle_alloc(control("unexpected_limit"), NULL, &limit, &count));
  T_OK(MPI_T_cvar_read(limit, &before));
  T_OK(MPI_T_cvar_write(limit, &small));
  T_OK(MPI_T_pvar_read(session, crowded, &state));
  CHECK_EQ(state, 0);
  for (int i = 0; i < kMessages; ++i)
    CHECK_OK(MPI_Isend(data, sizeof data, MPI_CHAR, 0, 5, MPI_COMM_SELF, &requests[i]));
  T_OK(MPI_T_pvar_read(session, crowded, &state));
  CHECK_EQ(state, 1);
  int done = 1;
  CHECK_OK(MPI_Testall(kMessages, requests, &done, MPI_STATUSES_IGNORE));
  CHECK_EQ(done, 0); /* the last ones wait for their receives */
  for (int i = 0; i < kMessages; ++i)
    CHECK_OK(MPI_Recv(data, sizeof data, MPI_CHAR, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE));
  T_OK(MPI_T_pvar_read(session, crowded, &state));
  CHECK_EQ(state, 0);
  T_OK(MPI_T_cvar_write(limit, &before));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  start_tool();
  T_OK(MPI_T_pvar_session_create(&session));
  unexpected();
  posted();
  crowding();
  T_OK(MPI_T_finalize()); /* frees the session and its handles */
  MPI_Finalize();
  return check_result();
}
