/* Probe, Iprobe, and the matched forms with which threads do not steal each other's messages. */
#include "check.h"

static int rank, size;

static void unknown_length(int matched, int nonblocking) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int out[40000], in[40000];
  const int lengths[] = {0, 5, 3000, 40000};
  for (int k = 0; k < 4; ++k) {
    MPI_Request send;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int count, flag = 0;
    for (int i = 0; i < lengths[k]; ++i) out[i] = rank * 3 + i;
    MPI_Isend(out, lengths[k], MPI_INT, right, 20 + k, MPI_COMM_WORLD, &send);
    if (matched && nonblocking)
      while (!flag) CHECK_OK(MPI_Improbe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status));
    else if (matched)
      CHECK_OK(MPI_Mprobe(MPI_ANY_SOURCE, 20 + k, MPI_COMM_WORLD, &message, &status));
    else if (nonblocking)
      while (!flag) CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 20 + k, MPI_COMM_WORLD, &flag, &status));
    else
      CHECK_OK(MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK_EQ(status.MPI_SOURCE, left);
    CHECK_EQ(status.MPI_TAG, 20 + k);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, lengths[k]);
    if (matched && nonblocking) {
      MPI_Request receive;
      CHECK_OK(MPI_Imrecv(in, count, MPI_INT, &message, &receive));
      CHECK_OK(MPI_Wait(&receive, &status));
    } else if (matched) {
      CHECK_OK(MPI_Mrecv(in, count, MPI_INT, &message, &status));
    } else {
      CHECK_OK(MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status));
    }
    CHECK_EQ(message, MPI_MESSAGE_NULL);
    CHECK_EQ(status.MPI_SOURCE, left);
    for (int i = 0; i < count; ++i)
      if (in[i] != left * 3 + i) {
        CHECK_EQ(in[i], left * 3 + i);
        break;
      }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
}

static void nothing_there(void) {
  MPI_Status status;
  MPI_Message message;
  int flag = 1;
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &status));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &message, &status));
  CHECK_EQ(flag, 0);
}

static void no_process(void) {
  MPI_Status status;
  MPI_Message message;
  int flag = 0;
  CHECK_OK(MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_OK(MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status));
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
  CHECK_EQ(message, MPI_MESSAGE_NO_PROC);
  CHECK_OK(MPI_Mrecv(&flag, 1, MPI_INT, &message, &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQ(message, MPI_MESSAGE_NULL);
}

/* A message that was taken by a matched probe is no longer there for a receive. */
static void taken(void) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int first = 1, second = 2, got = 0;
  MPI_Message message;
  MPI_Request sends[2];
  MPI_Isend(&first, 1, MPI_INT, right, 30, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(&second, 1, MPI_INT, right, 30, MPI_COMM_WORLD, &sends[1]);
  CHECK_OK(MPI_Mprobe(left, 30, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Recv(&got, 1, MPI_INT, left, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 2);
  CHECK_OK(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 1);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int matched = 0; matched < 2; ++matched)
    for (int nonblocking = 0; nonblocking < 2; ++nonblocking) unknown_length(matched, nonblocking);
  nothing_there();
  no_process();
  taken();
  MPI_Finalize();
  return check_result();
}
