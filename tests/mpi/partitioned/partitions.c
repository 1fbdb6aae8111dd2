/* Partitions that are marked in any order, in equal and in different numbers at both sides, round after
 * round: each arrives when, and not before, what it is made of is ready. */
#include "check.h"

static int rank, size, right, left;

static int element(int from, int round, long i) { return (int)(from * 1000003L + round * 101L + i); }

/* Marks all partitions, in an order that depends on the round; by one, by range, by list. */
static void mark_all(int partitions, int round, MPI_Request request) {
  int list[64];
  switch (round % 4) {
    case 0:
      for (int i = partitions - 1; i >= 0; --i) CHECK_OK(MPI_Pready(i, request));
      break;
    case 1:
      if (partitions / 2 > 0)
        CHECK_OK(MPI_Pready_range(partitions - partitions / 2, partitions - 1, request));
      CHECK_OK(MPI_Pready_range(0, partitions - partitions / 2 - 1, request));
      break;
    case 2:
      for (int i = 0; i < partitions; ++i) list[i] = i % 2 == 0 ? i / 2 : partitions - 1 - i / 2;
      CHECK_OK(MPI_Pready_list(partitions, list, request));
      break;
    default:
      for (int i = 0; i < partitions; i += 2) CHECK_OK(MPI_Pready(i, request));
      for (int i = 1; i < partitions; i += 2) CHECK_OK(MPI_Pready(i, request));
  }
}

static void check_data(const int* in, int round, long length) {
  for (long i = 0; i < length; ++i)
    if (in[i] != element(left, round, i)) {
      CHECK_EQ(in[i], element(left, round, i));
      return;
    }
}

/* `length` numbers in all; who starts first, and whether the receiver looks at partitions, changes. */
static void ring(int send_partitions, int receive_partitions, long length) {
  int* out = calloc(length + 1, sizeof(int));
  int* in = calloc(length + 1, sizeof(int));
  MPI_Request requests[2];
  MPI_Status statuses[2];
  CHECK_OK(MPI_Psend_init(out, send_partitions, length / send_partitions, MPI_INT, right, 3, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Precv_init(in, receive_partitions, length / receive_partitions, MPI_INT, left, 3,
                          MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < 8; ++round) {
    int flag = -1;
    for (long i = 0; i < length; ++i) out[i] = element(rank, round, i), in[i] = -1;
    if (round % 3 == 0) {
      CHECK_OK(MPI_Start(&requests[0]));
      mark_all(send_partitions, round, requests[0]);
      if (round == 3) MPI_Barrier(MPI_COMM_WORLD); /* everything is ready before the receive starts */
      CHECK_OK(MPI_Start(&requests[1]));
    } else {
      CHECK_OK(MPI_Startall(2, requests));
      if (round == 4) MPI_Barrier(MPI_COMM_WORLD); /* everything is copied by the sender */
      mark_all(send_partitions, round, requests[0]);
    }
    if (round % 2 == 0) {
      const long each = length / receive_partitions;
      for (int i = 0; i < receive_partitions; ++i) {
        for (flag = 0; !flag;) CHECK_OK(MPI_Parrived(requests[1], i, &flag));
        for (long k = i * each; k < (i + 1) * each; ++k)
          if (in[k] != element(left, round, k)) {
            CHECK_EQ(in[k], element(left, round, k));
            break;
          }
      }
    }
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    check_data(in, round, length);
    CHECK_EQ(statuses[1].MPI_SOURCE, left);
    CHECK_EQ(statuses[1].MPI_TAG, 3);
    int count = -1;
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    CHECK_EQ(count, length);
    for (int i = 0; i < receive_partitions; ++i) { /* inactive: everything has arrived */
      CHECK_OK(MPI_Parrived(requests[1], i, &flag));
      CHECK_EQ(flag, 1);
    }
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
  free(out);
  free(in);
}

/* What is not ready has not arrived; what is, travels before the rest is. */
static void one_at_a_time(void) {
  enum { PARTITIONS = 6, EACH = 500 };
  static int out[PARTITIONS * EACH], in[PARTITIONS * EACH];
  MPI_Request requests[2];
  int flag = -1;
  /* The receiver's partitions are twice as large. */
  CHECK_OK(MPI_Psend_init_c(out, PARTITIONS, EACH, MPI_INT, right, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[0]));
  CHECK_OK(MPI_Precv_init_c(in, PARTITIONS / 2, 2 * EACH, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                            &requests[1]));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < PARTITIONS * EACH; ++i) out[i] = element(rank, round, i);
    CHECK_OK(MPI_Startall(2, requests));
    for (int k = PARTITIONS - 1; k >= 0; --k) {
      MPI_Barrier(MPI_COMM_WORLD);
      for (int i = 0; i < PARTITIONS / 2; ++i) {
        CHECK_OK(MPI_Parrived(requests[1], i, &flag));
        CHECK_EQ(flag, 2 * i > k ? 1 : 0);
      }
      CHECK_OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
      CHECK_EQ(flag, 0);
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(MPI_Pready(k, requests[0]));
      if (k % 2 == 0) {
        for (flag = 0; !flag;) CHECK_OK(MPI_Parrived(requests[1], k / 2, &flag));
        for (int i = k * EACH; i < (k + 2) * EACH; ++i)
          if (in[i] != element(left, round, i)) {
            CHECK_EQ(in[i], element(left, round, i));
            break;
          }
      }
    }
    CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
}

/* The sender's wait may come before its neighbour has even made the receive. */
static void late_receiver(void) {
  enum { LENGTH = 40000 };
  static int out[LENGTH], in[LENGTH];
  MPI_Request send, receive;
  const int sends = rank % 2 == 0 && rank + 1 < size, receives = rank % 2 == 1;
  for (int i = 0; i < LENGTH; ++i) out[i] = element(rank, 0, i);
  if (sends) {
    CHECK_OK(MPI_Psend_init(out, 8, LENGTH / 8, MPI_INT, rank + 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    CHECK_OK(MPI_Start(&send));
    CHECK_OK(MPI_Pready_range(0, 7, send));
    CHECK_OK(MPI_Send(NULL, 0, MPI_INT, rank + 1, 6, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&send));
  }
  if (receives) {
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, rank - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(
        MPI_Precv_init(in, 5, LENGTH / 5, MPI_INT, rank - 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    CHECK_OK(MPI_Start(&receive));
    CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    check_data(in, 0, LENGTH);
    CHECK_OK(MPI_Request_free(&receive));
  }
}

static void with_nobody(void) {
  int value = 1, flag = 0, count = -1;
  MPI_Status status;
  MPI_Request requests[2];
  CHECK_OK(
      MPI_Psend_init(&value, 3, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(
      MPI_Precv_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < 2; ++round) {
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Parrived(requests[1], 0, &flag));
    CHECK_EQ(flag, 1);
    CHECK_OK(MPI_Wait(&requests[1], &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, 0);
    CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    CHECK_OK(MPI_Pready_range(0, 2, requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_EQ(value, 1);
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
}

/* Messages without bytes. */
static void empty(void) {
  MPI_Request requests[2];
  for (int partitions = 1; partitions < 3; ++partitions) {
    CHECK_OK(
        MPI_Psend_init(NULL, partitions, 0, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(NULL, 4, 0, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 3; ++round) {
      int flag = -1;
      CHECK_OK(MPI_Start(&requests[1]));
      for (int i = 0; i < 4; ++i) { /* nothing, too, has not arrived before it is sent */
        CHECK_OK(MPI_Parrived(requests[1], i, &flag));
        CHECK_EQ(flag, 0);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(MPI_Start(&requests[0]));
      CHECK_OK(MPI_Pready_range(0, partitions - 1, requests[0]));
      for (int i = 0; i < 4; ++i)
        for (flag = 0; !flag;) CHECK_OK(MPI_Parrived(requests[1], i, &flag));
      CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
      MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  const int counts[] = {1, 2, 3, 8, 60};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) ring(counts[i], counts[j], 120);
  ring(8, 8, 64000);
  ring(60, 8, 120000);
  ring(1, 60, 120000);
  one_at_a_time();
  late_receiver();
  with_nobody();
  empty();
  MPI_Finalize();
  return check_result();
}
