/* Where buffers for buffered sends can be attached: which of them a message takes, MPI_BUFFER_AUTOMATIC,
 * flushing. Messages are too long to be taken at once, so they do need a buffer. */
#include "check.h"

enum { LENGTH = 10000, BYTES = LENGTH * (int)sizeof(int), ROOM = BYTES + MPI_BSEND_OVERHEAD };
static int rank, size, right, left;
static int out[LENGTH], in[LENGTH];

static void fill(int seed) {
  for (int i = 0; i < LENGTH; ++i) out[i] = 100 * rank + seed + i;
}

static int send(MPI_Comm comm, int seed) {
  fill(seed);
  const int code = MPI_Bsend(out, LENGTH, MPI_INT, right, seed, comm);
  memset(out, 0xee, sizeof out);
  return code;
}

static void receive(MPI_Comm comm, int seed) {
  CHECK_OK(MPI_Recv(in, LENGTH, MPI_INT, left, seed, comm, MPI_STATUS_IGNORE));
  for (int i = 0; i < LENGTH; ++i)
    if (in[i] != 100 * left + seed + i) {
      CHECK_EQ(in[i], 100 * left + seed + i);
      return;
    }
}

static int in_buffer(const void* buffer, int seed) {
  const int* values = buffer;
  for (int i = 0; i < 64; ++i)
    if (values[i] == 100 * rank + seed && values[i + 1] == 100 * rank + seed + 1) return 1;
  return 0;
}

/* A communicator's own buffer is taken first, and only by it. */
static void precedence(MPI_Comm comm, MPI_Comm other) {
  int* own = calloc(1, ROOM);
  int* process = calloc(1, 2 * ROOM);
  void* address = NULL;
  int bytes = 0;
  CHECK_OK(MPI_Buffer_attach(process, 2 * ROOM));
  CHECK_OK(send(comm, 1));
  CHECK(in_buffer(process, 1));
  CHECK_OK(MPI_Comm_attach_buffer(comm, own, ROOM));
  CHECK_OK(send(comm, 2));
  CHECK(in_buffer(own, 2));
  CHECK_CLASS(send(comm, 3), MPI_ERR_BUFFER); /* full, though the process has room */
  CHECK_OK(send(other, 4));
  CHECK_CLASS(send(other, 5), MPI_ERR_BUFFER);
  MPI_Barrier(MPI_COMM_WORLD); /* nobody receives, and so makes room, before */
  receive(comm, 1);
  receive(comm, 2);
  receive(other, 4);
  CHECK_OK(MPI_Comm_detach_buffer(comm, &address, &bytes));
  CHECK(address == own);
  CHECK_EQ(bytes, ROOM);
  free(own);
  CHECK_OK(MPI_Buffer_flush());
  CHECK_OK(send(comm, 6));
  CHECK_OK(send(other, 7));
  receive(comm, 6);
  receive(other, 7);
  MPI_Count wide = 0;
  CHECK_OK(MPI_Buffer_detach_c(&address, &wide));
  CHECK(address == process);
  CHECK_EQ(wide, 2 * ROOM);
  free(process);
}

/* Memory is taken as it is needed, at all three places where it can be. */
static void automatic(MPI_Comm comm) {
  void* address = NULL;
  int bytes = 0;
  for (int of_comm = 0; of_comm < 2; ++of_comm) {
    CHECK_OK(of_comm ? MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0)
                     : MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 17));
    for (int seed = 0; seed < 20; ++seed) CHECK_OK(send(comm, seed));
    CHECK_OK(MPI_Bsend(NULL, 0, MPI_INT, right, 30, comm));
    for (int seed = 19; seed >= 0; --seed) receive(comm, seed);
    CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, left, 30, comm, MPI_STATUS_IGNORE));
    CHECK_CLASS(of_comm ? MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0)
                        : MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0),
                MPI_ERR_BUFFER);
    address = NULL;
    CHECK_OK(of_comm ? MPI_Comm_detach_buffer(comm, &address, &bytes) : MPI_Buffer_detach(&address, &bytes));
    CHECK(address == MPI_BUFFER_AUTOMATIC);
  }
}

/* A flush waits for what was in the buffer when it began, and for nothing that came later. */
static void flushing(MPI_Comm comm, int of_comm) {
  char* buffer = malloc(2 * ROOM);
  MPI_Request early, late, none;
  int flag = -1;
  MPI_Status status;
  if (of_comm)
    CHECK_OK(MPI_Comm_iflush_buffer(comm, &none));
  else
    CHECK_OK(MPI_Buffer_iflush(&none)); /* there is no buffer */
  CHECK_OK(MPI_Wait(&none, MPI_STATUS_IGNORE));
  CHECK_OK(of_comm ? MPI_Comm_flush_buffer(comm) : MPI_Buffer_flush());
  CHECK_OK(of_comm ? MPI_Comm_attach_buffer_c(comm, buffer, 2 * ROOM) : MPI_Buffer_attach(buffer, 2 * ROOM));
  CHECK_OK(of_comm ? MPI_Comm_iflush_buffer(comm, &none) : MPI_Buffer_iflush(&none)); /* it is empty */
  CHECK_OK(MPI_Wait(&none, &status));
  CHECK_EQ(none, MPI_REQUEST_NULL);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  for (int round = 0; round < 5; ++round) {
    CHECK_OK(send(comm, 1));
    CHECK_OK(of_comm ? MPI_Comm_iflush_buffer(comm, &early) : MPI_Buffer_iflush(&early));
    CHECK_OK(send(comm, 2));
    CHECK_OK(of_comm ? MPI_Comm_iflush_buffer(comm, &late) : MPI_Buffer_iflush(&late));
    CHECK_OK(MPI_Test(&early, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    MPI_Barrier(comm);
    receive(comm, 1);
    CHECK_OK(MPI_Wait(&early, MPI_STATUS_IGNORE)); /* once the neighbour has received the first one */
    CHECK_OK(MPI_Test(&late, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    MPI_Barrier(comm);
    receive(comm, 2);
    CHECK_OK(round % 2 == 0 ? MPI_Wait(&late, MPI_STATUS_IGNORE) : MPI_Request_free(&late));
    CHECK_OK(of_comm ? MPI_Comm_flush_buffer(comm) : MPI_Buffer_flush());
    memset(buffer, 0, 2 * ROOM);
  }
  void* address = NULL;
  MPI_Count bytes = 0;
  CHECK_OK(of_comm ? MPI_Comm_detach_buffer_c(comm, &address, &bytes)
                   : MPI_Buffer_detach_c(&address, &bytes));
  CHECK(address == buffer);
  CHECK_EQ(bytes, 2 * ROOM);
  free(buffer);
}

/* Messages stay in order, whether they needed the buffer or not. */
static void order(MPI_Comm comm) {
  CHECK_OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
  for (int k = 0; k < 100; ++k) {
    for (int i = 0; i < LENGTH; ++i) out[i] = k;
    CHECK_OK(MPI_Bsend(out, k % 3 == 0 ? LENGTH : k % 3, MPI_INT, right, 1, comm));
  }
  for (int k = 0; k < 100; ++k) {
    MPI_Status status;
    int count = 0;
    CHECK_OK(MPI_Recv(in, LENGTH, MPI_INT, left, 1, comm, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQ(count, k % 3 == 0 ? LENGTH : k % 3);
    CHECK_EQ(in[0], k);
    CHECK_EQ(in[count - 1], k);
  }
  void* address;
  int bytes;
  CHECK_OK(MPI_Comm_detach_buffer(comm, &address, &bytes));
}

/* A communicator may be freed while its buffer has messages: they arrive. */
static void freed_early(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  CHECK_OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(send(comm, 3));
  CHECK_OK(MPI_Irecv(in, LENGTH, MPI_INT, left, 3, comm, &request));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(in[LENGTH - 1], 100 * left + 3 + LENGTH - 1);
}

static void errors(MPI_Comm comm) {
  char room[100];
  void* address = NULL;
  int bytes = 0;
  MPI_Request request;
  CHECK_CLASS(MPI_Comm_detach_buffer(comm, &address, &bytes), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_NULL, room, 100), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_attach_buffer(comm, NULL, 100), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Buffer_attach(NULL, 100), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Comm_attach_buffer(comm, room, -1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_detach_buffer(comm, NULL, &bytes), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_detach_buffer(comm, &address, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_flush_buffer(MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_iflush_buffer(MPI_COMM_NULL, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
  CHECK_CLASS(send(comm, 1), MPI_ERR_BUFFER); /* none attached anywhere */
  CHECK_OK(MPI_Comm_attach_buffer(comm, room, 100));
  CHECK_CLASS(send(comm, 1), MPI_ERR_BUFFER); /* too small */
  CHECK_OK(MPI_Comm_detach_buffer(comm, &address, &bytes));
  CHECK_EQ(bytes, 100);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  precedence(comm, MPI_COMM_WORLD);
  automatic(comm);
  flushing(MPI_COMM_WORLD, 0);
  flushing(comm, 1);
  order(comm);
  freed_early();
  errors(comm);
  /* What is still attached at the end is detached by MPI_Finalize. */
  CHECK_OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(send(MPI_COMM_WORLD, 9));
  receive(MPI_COMM_WORLD, 9);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return check_result();
}
