/* Blocking receives of a rank with a core to itself may take their messages from where they came in, past the
 * matcher: not where an earlier message or an earlier receive goes first. Partners are half the ranks apart,
 * so that they are on different cores. */
#include "check.h"

enum { kRounds = 400, kLong = 100000 };
static int rank, size, partner;
static char long_buffer[kLong];

static void send_int(int value, int tag) { MPI_Send(&value, 1, MPI_INT, partner, tag, MPI_COMM_WORLD); }

static int receive_int(int source, int tag) {
  int value = -1, count;
  MPI_Status status;
  MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQ(count, 1);
  CHECK_EQ(status.MPI_SOURCE, partner);
  if (tag != MPI_ANY_TAG) CHECK_EQ(status.MPI_TAG, tag);
  return value;
}

static void be_sure_that_it_has_come(int tag) {
  int flag = 0;
  while (!flag) MPI_Iprobe(partner, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Of one tag, in the order in which they were sent, though the first ones wait at the matcher. */
static void behind_messages(void) {
  for (int i = 0; i < 3; ++i) send_int(i, 1);
  be_sure_that_it_has_come(1);
  for (int i = 3; i < 6; ++i) send_int(i, 1);
  for (int i = 0; i < 6; ++i) CHECK_EQ(receive_int(partner, 1), i);
}

/* The receive that was posted first gets the first message, whether it names the sender or not. */
static void behind_receives(int source, int tag) {
  int first = -1;
  MPI_Request request;
  MPI_Irecv(&first, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &request);
  send_int(10, 2);
  send_int(11, 2);
  CHECK_EQ(receive_int(partner, 2), 11);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQ(first, 10);
}

/* What comes first in the lane is for another receive, or does not fit, or is long. */
static void behind_others(void) {
  send_int(20, 3);
  send_int(21, 4);
  CHECK_EQ(receive_int(partner, 4), 21);
  CHECK_EQ(receive_int(partner, 3), 20);

  MPI_Request request;
  long_buffer[kLong - 1] = 7;
  MPI_Isend(long_buffer, kLong, MPI_BYTE, partner, 5, MPI_COMM_WORLD, &request);
  send_int(22, 5);
  static char multi_receive[kLong];
  MPI_Recv(multi_receive, kLong, MPI_BYTE, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQ(multi_receive[kLong - 1], 7);
  CHECK_EQ(receive_int(partner, 5), 22);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void too_long(void) {
  int two[2] = {30, 31}, one = -1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Send(two, 2, MPI_INT, partner, 6, MPI_COMM_WORLD);
  int class;
  MPI_Error_class(MPI_Recv(&one, 1, MPI_INT, partner, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
  CHECK_EQ(class, MPI_ERR_TRUNCATE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* Both at once, in communicators of their own, with data that has gaps. */
static void to_and_fro(MPI_Comm other, MPI_Datatype every_other, int round) {
  int out = round, in = -1, spread[3] = {-1, -1, -1};
  MPI_Sendrecv(&out, 1, MPI_INT, partner, 7, &in, 1, MPI_INT, partner, 7, other, MPI_STATUS_IGNORE);
  CHECK_EQ(in, round);
  const int pair[2] = {round, -round};
  MPI_Sendrecv(pair, 2, MPI_INT, partner, 8, spread, 1, every_other, partner, 8, other, MPI_STATUS_IGNORE);
  CHECK_EQ(spread[0], round);
  CHECK_EQ(spread[1], -1);
  CHECK_EQ(spread[2], -round);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  partner = (rank + size / 2) % size;
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Datatype every_other;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int round = 0; round < kRounds && check_failures == 0; ++round) {
    behind_messages();
    behind_receives(partner, 2);
    behind_receives(MPI_ANY_SOURCE, 2);
    behind_receives(partner, MPI_ANY_TAG);
    behind_others();
    too_long();
    to_and_fro(other, every_other, round);
  }
  MPI_Type_free(&every_other);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return check_result();
}
