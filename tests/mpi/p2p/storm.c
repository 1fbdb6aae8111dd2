/* All ranks send to one, which receives whatever comes: from any source, with any tag, blocking, in windows
 * of posted receives, by matched probes, and by polling. Nothing is lost, and nothing overtakes. */
#include "check.h"

enum { kMessages = 2000, kWindow = 32 };
static int rank, size;

static void send_all(int to, MPI_Comm comm) {
  MPI_Request requests[kWindow];
  int values[kWindow];
  for (int i = 0; i < kMessages; ++i) {
    if (i % kWindow == 0 && i > 0) MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    values[i % kWindow] = i;
    MPI_Isend(&values[i % kWindow], 1, MPI_INT, to, i % 5, comm, &requests[i % kWindow]);
  }
  MPI_Waitall((kMessages - 1) % kWindow + 1, requests, MPI_STATUSES_IGNORE);
}

static void check_next(int* next, const MPI_Status* status, int value) {
  CHECK_EQ(value, next[status->MPI_SOURCE]);
  CHECK_EQ(status->MPI_TAG, value % 5);
  next[status->MPI_SOURCE] = value + 1;
}

static void receive_all(int how, MPI_Comm comm) {
  int* const next = calloc((size_t)size, sizeof(int));
  const int total = (size - 1) * kMessages;
  MPI_Status status;
  int value = -1;
  if (how == 0) {
    for (int i = 0; i < total; ++i) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      check_next(next, &status, value);
    }
  } else if (how == 1) {
    MPI_Request requests[kWindow];
    MPI_Status statuses[kWindow];
    int values[kWindow];
    for (int i = 0; i < total; i += kWindow) {
      const int n = total - i < kWindow ? total - i : kWindow;
      for (int w = 0; w < n; ++w)
        MPI_Irecv(&values[w], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[w]);
      MPI_Waitall(n, requests, statuses);
      for (int w = 0; w < n; ++w) check_next(next, &statuses[w], values[w]);
    }
  } else if (how == 2) {
    for (int i = 0; i < total; ++i) {
      MPI_Message message;
      int flag = i % 2;
      if (flag == 1) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
      MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      check_next(next, &status, value);
    }
  } else {
    for (int i = 0; i < total; ++i) {
      MPI_Request request;
      int flag = 0;
      MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
      while (!flag) MPI_Test(&request, &flag, &status);
      check_next(next, &status, value);
    }
  }
  for (int r = 0; r < size; ++r) CHECK_EQ(next[r], r == rank ? 0 : kMessages);
  free(next);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int how = 0; how < 4; ++how) {
    const int root = how % size;
    if (rank == root)
      receive_all(how, MPI_COMM_WORLD);
    else
      send_all(root, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return check_result();
}
