/* Persistent requests in all modes: started many times, alone and together, freed while inactive. */
#include "check.h"

static int rank, size;

typedef int (*init_function)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void ring(init_function init, int length) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int out[20000], in[20000];
  MPI_Request requests[2];
  MPI_Status statuses[2];
  CHECK_OK(MPI_Recv_init(in, length, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]));
  CHECK_OK(init(out, length, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]));
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < length; ++i) out[i] = rank + round * 100 + i, in[i] = -1;
    CHECK_OK(MPI_Start(&requests[0]));
    MPI_Barrier(MPI_COMM_WORLD); /* so that ready sends find their receives */
    CHECK_OK(MPI_Start(&requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    CHECK_EQ(statuses[0].MPI_SOURCE, left);
    CHECK_EQ(in[0], left + round * 100);
    CHECK_EQ(in[length - 1], left + round * 100 + length - 1);
    CHECK_OK(MPI_Waitall(2, requests, statuses)); /* inactive: returns at once, with empty statuses */
    CHECK_EQ(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
  }
  CHECK_OK(MPI_Startall(2, requests));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_EQ(requests[i], MPI_REQUEST_NULL);
  }
}

static void misuse(void) {
  int value = 0;
  const int sent = 1;
  MPI_Request request, plain;
  CHECK_OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request));
  CHECK_OK(MPI_Start(&request));
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Send(&sent, 1, MPI_INT, 0, 99, MPI_COMM_SELF));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(&request));
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, 0, 98, MPI_COMM_SELF, &plain));
  CHECK_CLASS(MPI_Start(&plain), MPI_ERR_REQUEST);
  CHECK_OK(MPI_Send(&sent, 1, MPI_INT, 0, 98, MPI_COMM_SELF));
  CHECK_OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int room = 4 * (20000 * (int)sizeof(int) +
                        MPI_BSEND_OVERHEAD); /* a round may begin before the last one has left */
  void* buffer = malloc(room);
  MPI_Buffer_attach(buffer, room);
  const int lengths[] = {1, 2000, 20000};
  for (int i = 0; i < 3; ++i) {
    ring(MPI_Send_init, lengths[i]);
    ring(MPI_Ssend_init, lengths[i]);
    ring(MPI_Rsend_init, lengths[i]);
    ring(MPI_Bsend_init, lengths[i]);
  }
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
  misuse();
  MPI_Finalize();
  return check_result();
}
