/* Order and wildcards (MPI-5.0 section 3.5): messages of one sender do not overtake each other, whatever
   their size and mode; receives are matched in the order in which they were posted. */
#include "check.h"

enum { MESSAGES = 400 };
static int rank, size;

static int length_of(int i) { return i % 7 == 0 ? 30000 : i % 3 == 0 ? 600 : 1; }

static void in_order(int any_source, int any_tag) {
  static int buffer[30000];
  int next[16] = {0};
  if (rank != 0) {
    for (int i = 0; i < MESSAGES; ++i) {
      buffer[0] = i;
      if (i % 5 == 0)
        CHECK_OK(MPI_Ssend(buffer, length_of(i), MPI_INT, 0, 2, MPI_COMM_WORLD));
      else
        CHECK_OK(MPI_Send(buffer, length_of(i), MPI_INT, 0, 2, MPI_COMM_WORLD));
    }
    return;
  }
  for (int k = 0; k < MESSAGES * (size - 1); ++k) {
    MPI_Status status;
    int count;
    const int source = any_source ? MPI_ANY_SOURCE : 1 + k % (size - 1);
    CHECK_OK(MPI_Recv(buffer, 30000, MPI_INT, source, any_tag ? MPI_ANY_TAG : 2, MPI_COMM_WORLD, &status));
    const int i = next[status.MPI_SOURCE]++;
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(buffer[0], i);
    CHECK_EQ(count, length_of(i));
    CHECK_EQ(status.MPI_TAG, 2);
    if (check_failures > 0) return;
  }
}

/* Two posted receives that both fit: the older one gets the first message, wildcard or not. */
static void posted_order(void) {
  int a = -1, b = -1, c = -1;
  MPI_Request requests[3];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&b, 1, MPI_INT, size - 1, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&c, 1, MPI_INT, size - 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1)
    for (int i = 0; i < 3; ++i) MPI_Send(&i, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK_EQ(a, 0);
    CHECK_EQ(b, 1);
    CHECK_EQ(c, 2);
  }
}

/* Tags choose among waiting messages; communicators keep them apart. */
static void chosen_by_tag(void) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (rank == 0) {
    for (int tag = 0; tag < 100; ++tag) MPI_Send(&tag, 1, MPI_INT, size - 1, tag, MPI_COMM_WORLD);
    const int apart = -5;
    MPI_Send(&apart, 1, MPI_INT, size - 1, 50, other);
  }
  if (rank == size - 1) {
    int value;
    CHECK_OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, MPI_STATUS_IGNORE));
    CHECK_EQ(value, -5);
    for (int tag = 99; tag >= 0; --tag) {
      CHECK_OK(MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(value, tag);
    }
  }
  MPI_Comm_free(&other);
}

/* More small messages than may wait as copies: senders must be held, nothing may be lost. */
static void flood(void) {
  enum { FLOOD = 5000 };
  static char message[8192];
  if (rank == 0 && size > 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < FLOOD; ++i) {
      int value;
      CHECK_OK(MPI_Recv(message, sizeof message, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      memcpy(&value, message, sizeof value);
      CHECK_EQ(value, i);
      if (check_failures > 0) return;
    }
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < FLOOD && rank == 1; ++i) {
      memcpy(message, &i, sizeof i);
      CHECK_OK(MPI_Send(message, sizeof message, MPI_CHAR, 0, 8, MPI_COMM_WORLD));
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int any = 0; any < 4; ++any) {
    in_order(any & 1, any & 2);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  posted_order();
  chosen_by_tag();
  flood();
  MPI_Finalize();
  return check_result();
}
