/* Programs that give MPI memory twice of which it writes one: told by the call that finds it. What is expected has a line for itself,
 * however long. */
// clang-format off
#include "corpus.h"

static int data[16] = {1, 2, 3, 4}, other[16];

/* CASE exchange
 * options: --check
 * code: 1
 * says: MPI_Sendrecv: the receive buffer overlaps the send buffer
 * says:   4 x MPI_INT are sent, 4 x MPI_INT received by MPI_Sendrecv at ...@a
 * says:   they must have no byte in common: MPI_Sendrecv_replace receives into what it sends [MPI_ERR_BUFFER] */
static void exchange(void) {
  MPI_Sendrecv(data, 4, MPI_INT, 1 - rank, 0, data + 2, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
}

/* CASE exchange-in-flight
 * options: --check
 * code: 1
 * says: MPI_Isendrecv: the receive buffer overlaps the send buffer */
static void exchange_in_flight(void) {
  MPI_Request request;
  MPI_Isendrecv(data, 4, MPI_INT, 1 - rank, 0, data + 3, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE two-receives
 * options: --check
 * code: 1
 * says: MPI_Irecv: the receive buffer overlaps the receive buffer of another operation in progress
 * says:   this one: MPI_Irecv(4 x MPI_INT) at ...@b
 * says:   the other one: MPI_Irecv(4 x MPI_INT) at ...@a
 * says:   what an operation writes must not be used, and what it reads must not be written, before it is complete [MPI_ERR_BUFFER] */
static void two_receives(void) {
  MPI_Request requests[2];
  MPI_Irecv(data, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);     /* @a */
  MPI_Irecv(data + 3, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]); /* @b */
  for (int tag = 0; tag < 2; ++tag) MPI_Send(other, 4, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* CASE blocking-into-a-receive
 * options: --check
 * code: 1
 * says: MPI_Recv: the receive buffer overlaps the receive buffer of another operation in progress
 * says:   this one: MPI_Recv(1 x MPI_INT) at ...@b
 * says:   the other one: MPI_Recv_init(4 x MPI_INT) at ...@a */
static void blocking_into_a_receive(void) {
  MPI_Request request;
  if (rank == 0)
    for (int tag = 0; tag < 2; ++tag) MPI_Send(other, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv_init(data, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &request); /* @a */
    MPI_Start(&request);
    MPI_Recv(data + 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* CASE type-with-itself
 * options: --check
 * code: 3
 * says: MPI_Recv: the receive buffer has bytes that belong to two elements of its datatype
 * says:   MPI_Recv(1 x ...indexed type of MPI_INT) at ...@a */
static void type_with_itself(void) {
  const int lengths[] = {2, 2}, places[] = {0, 1};
  MPI_Datatype type;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  if (rank == 0) MPI_Send(data, 1, type, 1, 0, MPI_COMM_WORLD); /* is right */
  if (rank == 1) MPI_Recv(other, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @a */
  MPI_Type_free(&type);
}

/* CASE gathered-blocks
 * options: --check
 * code: 1
 * says: MPI_Gatherv: what is received from different ranks, or the elements of the receive type, overlap at ...@a: no byte of the receive buffer may be written twice */
static void gathered_blocks(void) {
  const int counts[] = {2, 2}, places[] = {0, 1};
  MPI_Gatherv(data, 2, MPI_INT, other, counts, places, MPI_INT, 1, MPI_COMM_WORLD); /* @a */
}

/* CASE blocks-of-all
 * options: --check
 * code: 1
 * says: MPI_Ialltoallv: what is received from different ranks, or the elements of the receive type, overlap at ...@a */
static void blocks_of_all(void) {
  const int counts[] = {1, 1}, places[] = {3, 3}, apart[] = {0, 1};
  MPI_Request request;
  MPI_Ialltoallv(data, counts, apart, MPI_INT, other, counts, places, MPI_INT, MPI_COMM_WORLD, &request); /* @a */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE result-and-operand
 * options: --check
 * code: 1
 * says: MPI_Allreduce: the receive buffer overlaps the send buffer at ...@a: give one of them other memory, or pass MPI_IN_PLACE */
static void result_and_operand(void) {
  MPI_Allreduce(data, data + 1, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* @a */
}

/* CASE own-block
 * options: --check
 * code: 1
 * says: MPI_Allgather...overlap */
static void own_block(void) {
  MPI_Allgather(data + rank, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD);
}

/* CASE returned
 * options: --check
 * code: 42
 * lines: 1
 * says: rank 1 of 2 ended with exit code 42 */
static void returned(void) {
  MPI_Request requests[2];
  int class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) MPI_Send(other, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Irecv(data, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    const int error = MPI_Irecv(data, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Error_class(error, &class);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* The buffer is free again. */
    MPI_Irecv(data, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  exit(rank == 1 && class == MPI_ERR_BUFFER ? 42 : 0);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"exchange", exchange},
      {"exchange-in-flight", exchange_in_flight},
      {"two-receives", two_receives},
      {"blocking-into-a-receive", blocking_into_a_receive},
      {"type-with-itself", type_with_itself},
      {"gathered-blocks", gathered_blocks},
      {"blocks-of-all", blocks_of_all},
      {"result-and-operand", result_and_operand},
      {"own-block", own_block},
      {"returned", returned},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
