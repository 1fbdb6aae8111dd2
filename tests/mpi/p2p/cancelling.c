/* MPI_Cancel: of receives always while they wait, of sends that nobody has matched; never of what has
 * happened. */
#include "check.h"

enum { BIG = 50000 };
static int rank, size, left, right;

/* The one in the middle is taken back, the others come in order; and the operation can be started again. */
static void one_of_several(void) {
  enum { MANY = 5 };
  int out[MANY], flag = -1;
  MPI_Request requests[MANY];
  MPI_Status status;
  for (int i = 0; i < MANY; ++i) {
    out[i] = 10 * rank + i;
    CHECK_OK(MPI_Ssend_init(&out[i], 1, MPI_INT, right, 44, MPI_COMM_WORLD, &requests[i]));
    CHECK_OK(MPI_Start(&requests[i]));
  }
  CHECK_OK(MPI_Cancel(&requests[2]));
  CHECK_OK(MPI_Wait(&requests[2], &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Start(&requests[2]));
  for (int i = 0; i < MANY; ++i) {
    const int from[] = {0, 1, 3, 4, 2};
    int in = -1;
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, left, 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in, 10 * left + from[i]);
  }
  for (int i = 0; i < MANY; ++i) {
    CHECK_OK(MPI_Wait(&requests[i], &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Request_free(&requests[i]));
  }
}

/* Whether or not the receive is faster, a message is either received or taken back. */
static void races(void) {
  static int out[BIG], in[BIG];
  for (int round = 0; round < 90; ++round) {
    const int length = round % 2 == 0 ? 1 : BIG;
    int flag = -1;
    MPI_Request send, receive;
    MPI_Status status;
    for (int i = 0; i < length; ++i) out[i] = 100 * rank + round, in[i] = -1;
    if (round % 3 == 0) CHECK_OK(MPI_Irecv(in, length, MPI_INT, left, 45, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Issend(out, length, MPI_INT, right, 45, MPI_COMM_WORLD, &send));
    if (round % 3 == 1) CHECK_OK(MPI_Irecv(in, length, MPI_INT, left, 45, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Cancel(&send));
    if (round % 3 == 2) CHECK_OK(MPI_Irecv(in, length, MPI_INT, left, 45, MPI_COMM_WORLD, &receive));
    CHECK_OK(MPI_Wait(&send, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    if (flag) CHECK_OK(MPI_Send(out, length, MPI_INT, right, 45, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], 100 * left + round);
    CHECK_EQ(in[length - 1], 100 * left + round);
  }
}

/* A send that has ended before its message is received is not taken back in the place of a later one, which
 * has the same envelope and, most likely, the same memory. */
static void after_one_that_has_ended(void) {
  static const int sizes[] = {100, 3000, 20000, BIG};
  static char first[BIG], second[BIG], in[BIG];
  memset(first, 1, sizeof first);
  memset(second, 2, sizeof second);
  for (int i = 0; i < 4; ++i) {
    const int length = sizes[i];
    int flag = -1, is_back = -1, more = -1;
    MPI_Request send;
    MPI_Status status;
    CHECK_OK(MPI_Isend(first, length, MPI_BYTE, right, 46, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Issend(second, length, MPI_BYTE, right, 46, MPI_COMM_WORLD, &send));
    CHECK_OK(MPI_Cancel(&send));
    CHECK_OK(MPI_Wait(&send, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1); /* no rank receives it */
    CHECK_OK(MPI_Sendrecv(&flag, 1, MPI_INT, right, 47, &is_back, 1, MPI_INT, left, 47, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(in, length, MPI_BYTE, left, 46, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], 1);
    CHECK_EQ(in[length - 1], 1);
    CHECK_OK(MPI_Iprobe(left, 46, MPI_COMM_WORLD, &more, MPI_STATUS_IGNORE));
    CHECK_EQ(more, !is_back);
    /* The first one has been received: the next round may use its memory again. */
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  int flag, value = 0;
  static int big[BIG];
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors that belong to no communicator */

  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&value, 1, MPI_INT, i == 0 ? MPI_ANY_SOURCE : 0, i == 1 ? MPI_ANY_TAG : 40, MPI_COMM_WORLD,
              &request);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(request, MPI_REQUEST_NULL);
  }

  MPI_Barrier(MPI_COMM_WORLD); /* the receives above must not meet the send below */

  /* A synchronous send without a receive can be taken back, and is gone. */
  MPI_Issend(big, BIG, MPI_INT, right, 41, MPI_COMM_WORLD, &request);
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Iprobe(left, 41, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 0);

  /* What was received cannot be cancelled any more. */
  MPI_Irecv(&value, 1, MPI_INT, left, 42, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, right, 42, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 0);
  CHECK_EQ(value, left);

  one_of_several();
  races();
  after_one_that_has_ended();

  request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  MPI_Finalize();
  return check_result();
}
