/* Programs that write into a buffer while it is MPI's: told when the operation is complete. */
#include "corpus.h"

static int data[4] = {1, 2, 3, 4};
static char large[kLarge];

static void receive_large(void) {
  MPI_Recv(large, kLarge, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE small-send
 * options: --check
 * code: 1
 * says: MPI_Wait: the send buffer has changed while it was MPI's: byte 8 of 16
 * says:   it was given to MPI_Isend(4 x MPI_INT) at ...@a
 * says:   and is the program's again with MPI_Wait at ...@b
 * says:   what is sent must not be written before the operation is complete [MPI_ERR_BUFFER] */
static void small_send(void) {
  MPI_Request request;
  if (rank == 1) MPI_Recv(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    MPI_Isend(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD, &request); /* @a */
    data[2] = 30;
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* @b */
  }
}

/* CASE large-send
 * options: --check
 * code: 19
 * says: MPI_Waitall: ... the send buffer has changed while it was MPI's: byte 99999 of 100000
 * says:   it was given to MPI_Issend(100000 x MPI_CHAR) at ...@a
 * says:   and is the program's again with MPI_Waitall at ...@b */
static void large_send(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 1) receive_large();
  if (rank == 0) {
    MPI_Issend(large, kLarge, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &requests[1]); /* @a */
    large[kLarge - 1] = 1;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @b */
  }
}

/* CASE buffered-send
 * options: --check
 * code: 1
 * says: the send buffer has changed while it was MPI's: byte 0 of 16
 * says:   it was given to MPI_Ibsend(4 x MPI_INT) at ...@a
 * says:   and is the program's again with MPI_Test at ...@b */
static void buffered_send(void) {
  static char attached[1000];
  MPI_Request request;
  int done = 0;
  if (rank == 1) MPI_Recv(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Ibsend(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD, &request); /* @a */
    data[0] = 0;
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE); /* @b */
  }
}

/* CASE part-of-a-column
 * options: --check
 * code: 1
 * says: the send buffer has changed while it was MPI's: byte 1 of 4
 * says:   it was given to MPI_Irsend(1 x a vector of MPI_CHAR) at ...@a */
static void part_of_a_column(void) {
  MPI_Datatype column;
  MPI_Request request;
  MPI_Type_vector(4, 1, 10, MPI_CHAR, &column);
  MPI_Type_commit(&column);
  if (rank == 1) MPI_Irecv(data, 4, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Irsend(large, 1, column, 1, 7, MPI_COMM_WORLD, &request); /* @a */
    large[1] = 1;                                                 /* is not sent */
    large[10] = 1;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
}

/* CASE started-again
 * options: --check
 * code: 1
 * says: the send buffer has changed while it was MPI's: byte 4 of 16
 * says:   it was given to MPI_Start(4 x MPI_INT) at ...@a
 * says:   and is the program's again with MPI_Waitany at ...@b */
static void started_again(void) {
  MPI_Request request;
  int which;
  if (rank == 0) MPI_Send_init(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Recv_init(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) data[1] = i;
    MPI_Start(&request); /* @a */
    if (rank == 0 && i == 2) data[1] = 77;
    MPI_Waitany(1, &request, &which, MPI_STATUS_IGNORE); /* @b */
  }
  MPI_Request_free(&request);
}

/* CASE broadcast-in-flight
 * options: --check
 * code: 1
 * says: MPI_Wait: the send buffer has changed while it was MPI's
 * says: 4 x MPI_INT of MPI_Ibcast were given to MPI_Ibcast at ...@a
 * says: and are the program's again with MPI_Wait at ...@b */
static void broadcast_in_flight(void) {
  MPI_Request request;
  MPI_Ibcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 0) data[3] = 5;
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @b */
}

/* CASE reduction-in-flight
 * options: --check
 * code: 1
 * says: MPI_Wait: the send buffer has changed while it was MPI's
 * says: 4 x MPI_INT of MPI_Iallreduce were given to MPI_Iallreduce at ...@a */
static void reduction_in_flight(void) {
  int sum[4];
  MPI_Request request;
  MPI_Iallreduce(data, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); /* @a */
  data[0] = 9;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE persistent-collective
 * options: --check
 * code: 1
 * says: MPI_Wait: the send buffer has changed while it was MPI's
 * says: 2 x MPI_INT of MPI_Alltoall_init were given to MPI_Start at ...@a */
static void persistent_collective(void) {
  int in[2];
  MPI_Request request;
  MPI_Alltoall_init(data, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    data[0] = i;
    MPI_Start(&request); /* @a */
    if (i == 1) data[1] = 9;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

/* CASE receive
 * options: --check
 * code: 1
 * says: MPI_Wait: the receive buffer has changed while it was MPI's
 * says:   it was given to MPI_Irecv(4 x MPI_INT) at ...@a
 * says:   and is the program's again with MPI_Wait at ...@b
 * says:   a receive buffer must not be written before the operation is complete [MPI_ERR_BUFFER] */
static void receive(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); /* @a */
    data[3] = 5;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
  if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE); /* @b */
}

/* CASE receive-of-less
 * options: --check
 * code: 19
 * says: MPI_Waitsome: ... the receive buffer has changed while it was MPI's
 * says:   it was given to MPI_Irecv(4 x MPI_INT) at ...@a
 * says:   and is the program's again with MPI_Waitsome at ...@b */
static void receive_of_less(void) {
  MPI_Request request;
  int done, which;
  if (rank == 1) MPI_Irecv(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 0) MPI_Send(data, 2, MPI_INT, 1, 7, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 1) return;
  data[1] = 5; /* the message has come, and its data with this call */
  MPI_Waitsome(1, &request, &done, &which, MPI_STATUSES_IGNORE); /* @b */
}

/* CASE attached
 * options: --check
 * code: 1
 * says: MPI_Buffer_detach: the attached buffer has changed while it was MPI's
 * says:   it was given to MPI_Buffer_attach at ...@a
 * says:   its 110000 bytes must not be written from the first buffered send on ... [MPI_ERR_BUFFER] */
static void attached(void) {
  static char memory[110000];
  void* had;
  int bytes;
  if (rank == 1) {
    MPI_Barrier(MPI_COMM_WORLD);
    receive_large();
    for (int i = 0; i < kLarge; ++i)
      if (large[i] != 5) exit(98);
  } else {
    MPI_Buffer_attach(memory, sizeof memory); /* @a */
    memset(large, 5, kLarge);
    MPI_Bsend(large, kLarge, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    memset(memory, 1, sizeof memory);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Buffer_detach(&had, &bytes);
}

/* CASE broadcast-to-a-leaf
 * options: --check
 * code: 1
 * says: MPI_Wait: the receive buffer has changed while it was MPI's
 * says:   4 x MPI_INT of MPI_Ibcast were given to MPI_Ibcast at ...@a
 * says:   and are the program's again with MPI_Wait at ...@b
 * says:   a receive buffer must not be written before the operation is complete [MPI_ERR_BUFFER] */
static void broadcast_to_a_leaf(void) {
  MPI_Request request;
  MPI_Ibcast(data, 4, MPI_INT, 0, MPI_COMM_WORLD, &request); /* @a */
  if (rank == 1) data[0] = 30;
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @b */
}

/* CASE result-of-a-reduction
 * options: --check
 * code: 1
 * says: MPI_Wait: the receive buffer has changed while it was MPI's
 * says:   4 x MPI_INT of MPI_Iallreduce were given to MPI_Iallreduce at ...@a */
static void result_of_a_reduction(void) {
  int sum[4] = {0};
  MPI_Request request;
  MPI_Iallreduce(data, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); /* @a */
  sum[0] = 3;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE result-in-place
 * options: --check
 * code: 1
 * says: MPI_Test: the receive buffer has changed while it was MPI's
 * says:   4 x MPI_INT of MPI_Iallreduce were given to MPI_Iallreduce at ...@a */
static void result_in_place(void) {
  MPI_Request request;
  int done = 0;
  MPI_Iallreduce(MPI_IN_PLACE, data, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request); /* @a */
  data[3] = 30;
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* CASE blocks-of-a-persistent-gather
 * options: --check
 * code: 1
 * says: MPI_Wait: the receive buffer has changed while it was MPI's
 * says:   2 x MPI_INT of MPI_Gatherv_init were given to MPI_Start at ...@a */
static void blocks_of_a_persistent_gather(void) {
  static int all[8], counts[2] = {2, 2}, places[2] = {4, 0};
  MPI_Request request;
  MPI_Gatherv_init(data, 2, MPI_INT, all, counts, places, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
  for (int i = 0; i < 3; ++i) {
    all[2] = i; /* belongs to nobody */
    all[5] = i;
    MPI_Start(&request); /* @a */
    all[7] = i;
    if (i == 2 && rank == 1) all[4] = 9;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1 && (all[0] != 1 || all[4] != 1 || all[5] != 2 || all[2] != i || all[7] != i)) exit(98);
  }
  MPI_Request_free(&request);
}

/* CASE displacements
 * options: --check
 * code: 13
 * says: MPI_Wait: the array displs has changed while it was MPI's: displs[1] was 2 and is 5
 * says:   it was given to MPI_Igatherv at ...@a
 * says:   and is the program's again with MPI_Wait at ...@b
 * says:   the arrays of a call must not be written before its operation is complete */
static void displacements(void) {
  int all[8], counts[2] = {2, 2}, displs[2] = {0, 2};
  MPI_Request request;
  MPI_Igatherv(data, 2, MPI_INT, all, counts, displs, MPI_INT, 0, MPI_COMM_WORLD, &request); /* @a */
  displs[1] = 5;
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* @b */
}

/* CASE counts-of-large
 * options: --check
 * code: 13
 * says: MPI_Wait: the array sendcounts has changed while it was MPI's: sendcounts[0] was 1 and is 0 */
static void counts_of_large(void) {
  int in[2];
  MPI_Count counts[2] = {1, 1};
  const MPI_Count each[2] = {1, 1};
  const MPI_Aint places[2] = {0, 1};
  MPI_Request request;
  MPI_Ialltoallv_c(data, counts, places, MPI_INT, in, each, places, MPI_INT, MPI_COMM_WORLD, &request);
  counts[0] = 0;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE partition
 * options: --check
 * code: 1
 * says: MPI_Wait: partition 1 has changed after it was ready
 * says:   it is one of MPI_Psend_init(4 x MPI_INT in 2 partitions) at ...@a
 * says:   and is the program's again with MPI_Wait at ...@b */
static void partition(void) {
  MPI_Request request;
  if (rank == 0)
    MPI_Psend_init(data, 2, 2, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request); /* @a */
  else
    MPI_Precv_init(data, 2, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    if (rank == 0) {
      data[0] = i; /* is not ready yet */
      MPI_Pready(1, request);
      data[1] = i;
      if (i == 1) data[3] = 40;
      MPI_Pready(0, request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* @b */
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"small-send", small_send},
      {"large-send", large_send},
      {"buffered-send", buffered_send},
      {"part-of-a-column", part_of_a_column},
      {"started-again", started_again},
      {"broadcast-in-flight", broadcast_in_flight},
      {"reduction-in-flight", reduction_in_flight},
      {"persistent-collective", persistent_collective},
      {"receive", receive},
      {"receive-of-less", receive_of_less},
      {"attached", attached},
      {"broadcast-to-a-leaf", broadcast_to_a_leaf},
      {"result-of-a-reduction", result_of_a_reduction},
      {"result-in-place", result_in_place},
      {"blocks-of-a-persistent-gather", blocks_of_a_persistent_gather},
      {"displacements", displacements},
      {"counts-of-large", counts_of_large},
      {"partition", partition},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
