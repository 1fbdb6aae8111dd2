/* A session's buffer for buffered sends (MPI-5.0 section 3.6): a communicator's own one is taken before it,
 * and it before the rank's. */
#include "session.h"

enum { LENGTH = 10000, ROOM = LENGTH * (int)sizeof(int) + MPI_BSEND_OVERHEAD };
static int rank, size, right, left;
static int out[LENGTH], in[LENGTH];

static int send(MPI_Comm comm, int tag) {
  for (int i = 0; i < LENGTH; ++i) out[i] = 1000 * rank + tag;
  return MPI_Bsend(out, LENGTH, MPI_INT, right, tag, comm);
}

static void receive(MPI_Comm comm, int tag) {
  CHECK_OK(MPI_Recv(in, LENGTH, MPI_INT, left, tag, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(in[0], 1000 * left + tag);
  CHECK_EQ(in[LENGTH - 1], 1000 * left + tag);
}

/* With room for one message at each place, so that a second one tells which place it has tried. */
static void precedence(MPI_Session session, MPI_Session other, MPI_Comm comm, MPI_Comm foreign) {
  static char of_rank[ROOM], of_session[ROOM], of_comm[ROOM];
  void* address = NULL;
  int bytes = 0;
  CHECK_CLASS(send(comm, 1), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Session_attach_buffer(other, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_CLASS(send(comm, 1), MPI_ERR_BUFFER); /* that is another session's */
  CHECK_OK(MPI_Buffer_attach(of_rank, ROOM));
  CHECK_OK(send(comm, 1));
  CHECK_CLASS(send(comm, 2), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Session_attach_buffer_c(session, of_session, ROOM));
  CHECK_CLASS(MPI_Session_attach_buffer(session, of_session, ROOM), MPI_ERR_BUFFER);
  CHECK_OK(send(comm, 2));
  CHECK_CLASS(send(comm, 3), MPI_ERR_BUFFER);
  CHECK_OK(send(foreign, 3));
  CHECK_OK(MPI_Comm_attach_buffer(comm, of_comm, ROOM));
  CHECK_OK(send(comm, 4));
  CHECK_CLASS(send(comm, 5), MPI_ERR_BUFFER);
  MPI_Barrier(comm); /* nobody receives, and so makes room, before */
  for (int tag = 4; tag > 0; --tag) receive(tag == 3 ? foreign : comm, tag);
  CHECK_OK(MPI_Comm_detach_buffer(comm, &address, &bytes));
  CHECK(address == of_comm);
  CHECK_OK(MPI_Session_detach_buffer(session, &address, &bytes));
  CHECK(address == of_session);
  CHECK_EQ(bytes, ROOM);
  CHECK_OK(MPI_Buffer_detach(&address, &bytes));
  CHECK(address == of_rank);
  MPI_Count wide = 0;
  CHECK_OK(MPI_Session_detach_buffer_c(other, &address, &wide));
  CHECK(address == MPI_BUFFER_AUTOMATIC);
}

static void flushed(MPI_Session session, MPI_Comm comm) {
  MPI_Request request;
  int flag = -1;
  CHECK_OK(MPI_Session_flush_buffer(session)); /* there is none */
  CHECK_OK(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
  CHECK_OK(send(comm, 1));
  CHECK_OK(MPI_Session_iflush_buffer(session, &request));
  CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Barrier(comm));
  receive(comm, 1);
  CHECK_OK(MPI_Session_flush_buffer(session));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(void) {
  const MPI_Session session = open_session(), other = open_session();
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "a"), foreign = comm_of(other, "mpi://WORLD", "b"), copy;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  right = (rank + 1) % size, left = (rank + size - 1) % size;
  precedence(session, other, comm, foreign);
  CHECK_OK(MPI_Comm_dup(comm, &copy)); /* it is the session's, too */
  precedence(session, other, copy, foreign);
  flushed(session, copy);
  void* address;
  int bytes;
  MPI_Request request;
  CHECK_CLASS(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Session_attach_buffer(other, NULL, 10), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Session_attach_buffer(other, in, -1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_detach_buffer(other, &address, &bytes), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Session_detach_buffer(other, NULL, &bytes), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_iflush_buffer(other, NULL), MPI_ERR_ARG);
  CHECK_OK(MPI_Session_iflush_buffer(other, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Comm_free(&copy));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free(&foreign));
  MPI_Session closing[2] = {session, other};
  for (int i = 0; i < 2; ++i)
    CHECK_OK(MPI_Session_finalize(&closing[i])); /* the first with its buffer attached */
  return check_result();
}
