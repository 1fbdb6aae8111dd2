/* What is wrong with partitioned operations gets the standard's error class, and harms nothing. */
#include "check.h"

static int rank, size;

static void arguments(void) {
  int buffer[4] = {0};
  MPI_Request request;
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Info none = MPI_INFO_NULL;
  CHECK_CLASS(MPI_Psend_init(buffer, -1, 1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Psend_init(buffer, 0, 1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Precv_init(buffer, 0, 1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, -1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Psend_init(buffer, 1 << 30, (MPI_Count)1 << 40, MPI_INT, 0, 1, world, none, &request),
              MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, 1, MPI_DATATYPE_NULL, 0, 1, world, none, &request), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, 1, MPI_INT, size, 1, world, none, &request), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, 1, MPI_INT, 0, -1, world, none, &request), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Psend_init(NULL, 1, 1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, 1, MPI_INT, 0, 1, MPI_COMM_NULL, none, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, 1, MPI_INT, 0, 1, world, (MPI_Info)(long)0x4321, &request),
              MPI_ERR_INFO);
  CHECK_CLASS(MPI_Psend_init(buffer, 1, 1, MPI_INT, 0, 1, world, none, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Precv_init(buffer, -1, 1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Precv_init(buffer, 1, -1, MPI_INT, 0, 1, world, none, &request), MPI_ERR_COUNT);
  /* There are no wildcards. */
  CHECK_CLASS(MPI_Precv_init(buffer, 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, none, &request), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Precv_init(buffer, 1, 1, MPI_INT, 0, MPI_ANY_TAG, world, none, &request), MPI_ERR_TAG);
}

static void wrong_requests(void) {
  int buffer[4] = {rank, rank, rank, rank}, in[4], flag = 0;
  MPI_Request send, receive, plain;
  CHECK_OK(MPI_Psend_init(buffer, 4, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
  CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
  CHECK_OK(MPI_Irecv(buffer, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &plain));
  CHECK_CLASS(MPI_Pready(0, send), MPI_ERR_REQUEST); /* not started */
  CHECK_CLASS(MPI_Pready_range(0, 1, send), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Pready_list(1, (const int[]){0}, send), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Startall(2, (MPI_Request[]){send, receive}));
  CHECK_CLASS(MPI_Pready(0, receive), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
  CHECK_EQ(flag, 1);
  CHECK_CLASS(MPI_Parrived(receive, 2, &flag), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Parrived(receive, -1, &flag), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Parrived(receive, 0, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready(4, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready(-1, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_range(2, 4, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_range(2, 1, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_list(2, (const int[]){0, 4}, send), MPI_ERR_ARG); /* marks nothing */
  CHECK_CLASS(MPI_Pready_list(-1, (const int[]){0}, send), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Pready_list(1, NULL, send), MPI_ERR_ARG);
  CHECK_OK(MPI_Pready_list(0, NULL, send));
  CHECK_OK(MPI_Pready(1, send));
  CHECK_CLASS(MPI_Pready(1, send), MPI_ERR_ARG); /* once in a round */
  CHECK_CLASS(MPI_Start(&send), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Cancel(&send), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Cancel(&receive), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Pready_list(3, (const int[]){0, 2, 3}, send));
  CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  for (int i = 0; i < 4; ++i) CHECK_EQ(in[i], rank);
  CHECK_OK(MPI_Request_free(&send));
  CHECK_OK(MPI_Request_free(&receive));
  CHECK_OK(MPI_Cancel(&plain));
  CHECK_OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
}

/* A receive with less room than the send has bytes is cut, each time; nothing is written behind its end. */
static void truncated(void) {
  int out[6] = {0}, in[5] = {-1, -1, -1, -1, -1}, flag = 0;
  MPI_Request requests[2];
  MPI_Status status;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  CHECK_OK(MPI_Psend_init(out, 3, 2, MPI_INT, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CHECK_OK(MPI_Precv_init(in, 2, 2, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  for (int round = 0; round < 3; ++round) {
    int count = 0;
    for (int i = 0; i < 6; ++i) out[i] = 100 * rank + 10 * round + i;
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 1, requests[0]));
    for (int i = 0; i < 2; ++i)
      for (flag = 0; !flag;) CHECK_OK(MPI_Parrived(requests[1], i, &flag));
    CHECK_OK(MPI_Pready(2, requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_Wait(&requests[1], &status), MPI_ERR_TRUNCATE);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, 4);
    for (int i = 0; i < 4; ++i) CHECK_EQ(in[i], 100 * left + 10 * round + i);
    CHECK_EQ(in[4], -1);
  }
  for (int i = 0; i < 2; ++i) CHECK_OK(MPI_Request_free(&requests[i]));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  arguments();
  wrong_requests();
  truncated();
  MPI_Finalize();
  return check_result();
}
