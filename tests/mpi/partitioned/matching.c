/* Which partitioned send belongs to which receive: those of one communicator, peer and tag in the order in
 * which they were initialised, whatever else has the same tag, and whether or not they are ever started. */
#include "check.h"

static int rank, size, right, left;

static void start_and_mark(MPI_Request* send, MPI_Request* receive) {
  CHECK_OK(MPI_Start(receive));
  CHECK_OK(MPI_Start(send));
  CHECK_OK(MPI_Pready(0, *send));
}

static void finish(MPI_Request* send, MPI_Request* receive) {
  CHECK_OK(MPI_Wait(send, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(receive, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(send));
  CHECK_OK(MPI_Request_free(receive));
}

/* Many with the same tag, started in another order than initialised. */
static void in_order(int receives_first) {
  enum { MANY = 10 };
  int out[MANY] = {0}, in[MANY];
  MPI_Request sends[MANY], receives[MANY];
  for (int step = 0; step < 2; ++step)
    for (int i = 0; i < MANY; ++i) {
      if (step == receives_first)
        CHECK_OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
      else
        CHECK_OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]));
    }
  for (int i = 0; i < MANY; ++i) out[i] = 100 * rank + i, in[i] = -1;
  for (int i = 0; i < MANY; ++i) start_and_mark(&sends[(i * 3) % MANY], &receives[(i * 7) % MANY]);
  for (int i = 0; i < MANY; ++i) finish(&sends[i], &receives[i]);
  for (int i = 0; i < MANY; ++i) CHECK_EQ(in[i], 100 * left + i);
}

/* Tags and communicators keep them apart; so does their being partitioned. */
static void apart(void) {
  int out[3] = {rank, rank + 1000, rank + 2000}, in[3] = {-1, -1, -1}, plain = -1, flag = -1;
  MPI_Comm comm;
  MPI_Request sends[3], receives[3], request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 3; ++i)
    CHECK_OK(MPI_Precv_init(&in[2 - i], 1, 1, MPI_INT, left, i == 0 ? 2 : 1, i == 1 ? comm : MPI_COMM_WORLD,
                            MPI_INFO_NULL, &receives[2 - i]));
  for (int i = 0; i < 3; ++i)
    CHECK_OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, i == 2 ? 2 : 1, i == 1 ? comm : MPI_COMM_WORLD,
                            MPI_INFO_NULL, &sends[i]));
  for (int i = 0; i < 3; ++i) start_and_mark(&sends[i], &receives[i]);
  CHECK_OK(MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
  for (int i = 0; i < 3; ++i) finish(&sends[i], &receives[i]);
  for (int i = 0; i < 3; ++i) CHECK_EQ(in[i], left + 1000 * i);
  CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(plain, left);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

/* Pairs that are freed without ever being started take their turn all the same. */
static void unused(void) {
  int out = rank, in = -1, no = -2;
  MPI_Request send, receive, unused_send, unused_receive;
  for (int round = 0; round < 4; ++round) {
    if (round % 2 == 0) {
      CHECK_OK(MPI_Psend_init(&no, 1, 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &unused_send));
      CHECK_OK(MPI_Request_free(&unused_send));
      CHECK_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    }
    CHECK_OK(MPI_Precv_init(&no, 1, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &unused_receive));
    CHECK_OK(MPI_Request_free(&unused_receive));
    CHECK_OK(MPI_Precv_init(&in, 1, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    if (round % 2 == 1) {
      MPI_Barrier(MPI_COMM_WORLD);
      CHECK_OK(MPI_Psend_init(&no, 1, 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &unused_send));
      CHECK_OK(MPI_Psend_init(&out, 1, 1, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
      CHECK_OK(MPI_Request_free(&unused_send));
    }
    out = 10 * rank + round;
    start_and_mark(&send, &receive);
    finish(&send, &receive);
    CHECK_EQ(in, 10 * left + round);
    CHECK_EQ(no, -2);
  }
}

/* A request that is freed while it is active goes on, and so does its communicator. */
static void freed_early(void) {
  int out[4], in[4] = {-1, -1, -1, -1};
  MPI_Comm comm;
  MPI_Request send, receive;
  for (int i = 0; i < 4; ++i) out[i] = 10 * rank + i;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK_OK(MPI_Psend_init(out, 4, 1, MPI_INT, right, 3, comm, MPI_INFO_NULL, &send));
  CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, left, 3, comm, MPI_INFO_NULL, &receive));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Start(&send));
  CHECK_OK(MPI_Pready_range(0, 3, send));
  CHECK_OK(MPI_Request_free(&send));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Start(&receive));
  CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(&receive));
  for (int i = 0; i < 4; ++i) CHECK_EQ(in[i], 10 * left + i);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank to every rank, on an intercommunicator too where there are two groups. */
static void all_to_all(MPI_Comm comm) {
  enum { MOST = 16, PARTITIONS = 4 };
  int mine, peers, is_inter, out[MOST][PARTITIONS] = {{0}}, in[MOST][PARTITIONS];
  MPI_Request requests[2 * MOST];
  MPI_Comm_rank(comm, &mine);
  MPI_Comm_test_inter(comm, &is_inter);
  if (is_inter)
    MPI_Comm_remote_size(comm, &peers);
  else
    MPI_Comm_size(comm, &peers);
  for (int i = 0; i < peers; ++i) {
    CHECK_OK(MPI_Psend_init(out[i], PARTITIONS, 1, MPI_INT, i, mine, comm, MPI_INFO_NULL, &requests[i]));
    CHECK_OK(MPI_Precv_init(in[i], PARTITIONS, 1, MPI_INT, i, i, comm, MPI_INFO_NULL, &requests[peers + i]));
  }
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < peers; ++i)
      for (int k = 0; k < PARTITIONS; ++k) out[i][k] = mine * 1000 + i * 100 + round * 10 + k, in[i][k] = -1;
    CHECK_OK(MPI_Startall(2 * peers, requests));
    for (int k = 0; k < PARTITIONS; ++k)
      for (int i = 0; i < peers; ++i) CHECK_OK(MPI_Pready(k, requests[i]));
    for (int left_over = 2 * peers; left_over > 0; --left_over) {
      int index = -1;
      CHECK_OK(MPI_Waitany(2 * peers, requests, &index, MPI_STATUS_IGNORE));
      if (index < peers) continue;
      const int i = index - peers;
      for (int k = 0; k < PARTITIONS; ++k) CHECK_EQ(in[i][k], i * 1000 + mine * 100 + round * 10 + k);
    }
  }
  for (int i = 0; i < 2 * peers; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < 3; ++round)
    for (int receives_first = 0; receives_first < 2; ++receives_first) in_order(receives_first);
  apart();
  unused();
  freed_early();
  all_to_all(MPI_COMM_WORLD);
  if (size > 1) {
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    all_to_all(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
  MPI_Finalize();
  return check_result();
}
