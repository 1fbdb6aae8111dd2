/* Messages and collective operations whose ends do not mean the same types: both are named, with what they
 * mean. */
#include <stddef.h>

#include "corpus.h"

static int numbers[8];
static double reals[8];

/* CASE int-as-double
 * options: --check
 * code: 3
 * says: MPI_Recv: rank 1 does not take what it is sent by rank 0
 * says:   rank 0: MPI_Send(4 x MPI_INT to rank 1, tag 7) at ...@a
 * says:   rank 1: MPI_Recv(2 x MPI_DOUBLE from rank 0, tag 7) at ...@b
 * says:   the basic types have to be the same, in the same order ... [MPI_ERR_TYPE] */
static void int_as_double(void) {
  if (rank == 0) MPI_Send(numbers, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);                     /* @a */
  if (rank == 1) MPI_Recv(reals, 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
}

/* CASE int-as-float
 * options: --check
 * code: 3
 * says:   rank 0: MPI_Ssend(2 x MPI_INT to rank 1, tag 1) at ...@a
 * says:   rank 1: MPI_Irecv(8 x MPI_FLOAT from rank 0, tag 1) at ...@b */
static void int_as_float(void) {
  static float room[8];
  MPI_Request request;
  if (rank == 0) MPI_Ssend(numbers, 2, MPI_INT, 1, 1, MPI_COMM_WORLD); /* @a */
  if (rank == 1) {
    MPI_Irecv(room, 8, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request); /* @b */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* CASE bytes-as-int
 * options: --check
 * code: 3
 * says:   rank 0: MPI_Isend(16 x MPI_BYTE to rank 1, tag 0) at ...@a
 * says:   rank 1: MPI_Recv(4 x MPI_INT from rank 0, tag 0) at ...@b */
static void bytes_as_int(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(numbers, 16, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request); /* @a */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) MPI_Recv(numbers, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
}

/* CASE char-as-byte
 * options: --check
 * code: 3
 * says:   rank 0: MPI_Bsend(100000 x MPI_CHAR to rank 1, tag 0) at ...@a
 * says:   rank 1: MPI_Recv(100000 x MPI_BYTE from rank 0, tag 0) at ...@b */
static void char_as_byte(void) {
  static char text[kLarge], attached[kLarge + MPI_BSEND_OVERHEAD];
  if (rank == 0) {
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Bsend(text, kLarge, MPI_CHAR, 1, 0, MPI_COMM_WORLD); /* @a */
  }
  if (rank == 1) MPI_Recv(text, kLarge, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
}

struct Pair {
  int number;
  double real;
};
static MPI_Datatype pair_type(void) {
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct Pair, number), offsetof(struct Pair, real)};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  MPI_Type_commit(&type);
  return type;
}

/* CASE order-in-a-struct
 * options: --check
 * code: 3
 * says:   rank 0: MPI_Send(2 x a struct to rank 1, tag 0) at ...@a
 * says:   rank 1: MPI_Recv(3 x MPI_DOUBLE_INT from rank 0, tag 0) at ...@b */
static void order_in_a_struct(void) {
  struct Pair pairs[2] = {{0, 0}};
  struct {
    double real;
    int number;
  } turned[3];
  MPI_Datatype type = pair_type();
  if (rank == 0) MPI_Send(pairs, 2, type, 1, 0, MPI_COMM_WORLD);                               /* @a */
  if (rank == 1) MPI_Recv(turned, 3, MPI_DOUBLE_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
  MPI_Type_free(&type);
}

/* CASE column-of-another-type
 * options: --check
 * code: 3
 * says: rank 0: MPI_Send(1 x a vector of MPI_INT to rank 1, tag 0) at ...@a
 * says: rank 1: MPI_Recv(4 x MPI_FLOAT from rank 0, tag 0) at ...@b */
static void column_of_another_type(void) {
  float room[4];
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (rank == 0) MPI_Send(numbers, 1, column, 1, 0, MPI_COMM_WORLD);                    /* @a */
  if (rank == 1) MPI_Recv(room, 4, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
  MPI_Type_free(&column);
}

/* CASE too-long
 * options: --check
 * code: 15
 * says: MPI_Recv: rank 1 takes less than it is sent by rank 0
 * says:   rank 0: MPI_Send(4 x MPI_INT to rank 1, tag 0) at ...@a
 * says:   rank 1: MPI_Recv(3 x MPI_INT from rank 0, tag 0) at ...@b
 * says: [MPI_ERR_TRUNCATE] */
static void too_long(void) {
  if (rank == 0) MPI_Send(numbers, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);                    /* @a */
  if (rank == 1) MPI_Recv(numbers, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @b */
}

/* CASE exchange
 * options: --check
 * code: 3
 * says: MPI_Sendrecv: rank ... does not take what it is sent by rank
 * says: MPI_Sendrecv(1 x MPI_INT to rank ... at ...@a
 * says: MPI_Sendrecv(1 x MPI_FLOAT from rank ... at ...@a */
static void exchange(void) {
  const int to = 1 - rank;
  float room;
  MPI_Status status;
  MPI_Sendrecv(&one, 1, MPI_INT, to, 0, &room, 1, MPI_FLOAT, to, 0, MPI_COMM_WORLD, &status); /* @a */
}

/* CASE exchange-in-flight
 * options: --check
 * code: 3
 * says: MPI_Wait: rank ... does not take what it is sent by rank
 * says: MPI_Isendrecv(1 x MPI_INT to rank ... at ...@a
 * says: MPI_Isendrecv(1 x MPI_FLOAT from rank ... at ...@a */
static void exchange_in_flight(void) {
  const int to = 1 - rank;
  float room;
  MPI_Request request;
  MPI_Isendrecv(&one, 1, MPI_INT, to, 0, &room, 1, MPI_FLOAT, to, 0, MPI_COMM_WORLD, &request); /* @a */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE persistent
 * options: --check
 * code: 3
 * says: MPI_Wait: rank 1 does not take what it is sent by rank 0
 * says:   rank 0: MPI_Send_init(1 x MPI_INT to rank 1, tag 0) at ...@a
 * says:   rank 1: MPI_Recv_init(1 x MPI_UNSIGNED from rank 0, tag 0) at ...@b */
static void persistent(void) {
  unsigned room;
  MPI_Request request;
  if (rank == 0) MPI_Send_init(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);       /* @a */
  if (rank == 1) MPI_Recv_init(&room, 1, MPI_UNSIGNED, 0, 0, MPI_COMM_WORLD, &request); /* @b */
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE probed
 * options: --check
 * code: 3
 * says: MPI_Mrecv: rank 1 does not take what it is sent by rank 0
 * says:   rank 0: MPI_Send(1 x MPI_DOUBLE to rank 1, tag 0) at ...@a
 * says:   rank 1: MPI_Mrecv(2 x MPI_INT from rank 0, tag 0) at ...@b */
static void probed(void) {
  MPI_Message message;
  if (rank == 0) MPI_Send(reals, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); /* @a */
  if (rank == 1) {
    MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(numbers, 2, MPI_INT, &message, MPI_STATUS_IGNORE); /* @b */
  }
}

/* CASE returned
 * options: --check
 * code: 42
 * lines: 1
 * says: rank 1 of 2 ended with exit code 42 */
static void returned(void) {
  int error = MPI_SUCCESS, class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) MPI_Send(numbers, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) error = MPI_Recv(reals, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Error_class(error, &class);
  MPI_Finalize();
  exit(rank == 1 && class == MPI_ERR_TYPE ? 42 : 0);
}

/* CASE renumbered
 * ranks: 3
 * options: --check
 * code: 3
 * says: rank 0 (rank 2 of MPI_COMM_WORLD): MPI_Send(1 x MPI_INT to rank 2 (rank 0 of MPI_COMM_WORLD), tag 0)
 * at ...@a says: rank 2 (rank 0 of MPI_COMM_WORLD): MPI_Recv(1 x MPI_FLOAT from rank 0 (rank 2 of
 * MPI_COMM_WORLD), tag 0) at ...@b */
static void renumbered(void) {
  float room;
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &turned);
  if (rank == 2) MPI_Send(&one, 1, MPI_INT, 2, 0, turned);                       /* @a */
  if (rank == 0) MPI_Recv(&room, 1, MPI_FLOAT, 0, 0, turned, MPI_STATUS_IGNORE); /* @b */
  MPI_Comm_free(&turned);
}

/* CASE broadcast
 * options: --check
 * code: 3
 * says: rank 0: MPI_Bcast(2 x MPI_INT to rank 1, root 0) at ...@a
 * says: rank 1: MPI_Bcast(1 x MPI_DOUBLE from rank 0, root 0) at ...@b */
static void broadcast(void) {
  if (rank == 0) MPI_Bcast(numbers, 2, MPI_INT, 0, MPI_COMM_WORLD);  /* @a */
  if (rank == 1) MPI_Bcast(reals, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* @b */
}

/* CASE gather-to-another-type
 * options: --check
 * code: 3
 * says: MPI_Gather: rank 0 and rank 1 do not mean the same types of data
 * says: rank 1: MPI_Gather(1 x MPI_INT to rank 0, root 0) at ...@a */
static void gather_to_another_type(void) {
  float all[2];
  MPI_Gather(&one, 1, rank == 0 ? MPI_FLOAT : MPI_INT, all, 1, MPI_FLOAT, 0, MPI_COMM_WORLD); /* @a */
}

/* CASE alltoallw-of-other-types
 * options: --check
 * code: 3
 * says: MPI_Alltoallw: rank 0 and rank 1 do not mean the same types of data
 * says: at ...@a */
static void alltoallw_of_other_types(void) {
  const int each[] = {1, 1}, at[] = {0, 4};
  const MPI_Datatype out[] = {MPI_INT, MPI_INT}, in[] = {MPI_INT, rank == 0 ? MPI_FLOAT : MPI_INT};
  MPI_Alltoallw(numbers, each, at, out, reals, each, at, in, MPI_COMM_WORLD); /* @a */
}

/* CASE scan-of-other-types
 * options: --check
 * code: 3
 * says: MPI_Scan: rank 0 and rank 1 do not mean the same types of data */
static void scan_of_other_types(void) {
  MPI_Scan(numbers, reals, 1, rank == 0 ? MPI_INT : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* CASE reduction-in-flight-of-other-types
 * options: --check
 * code: 3
 * says: MPI_Wait: rank 0 and rank 1 do not mean the same types of data
 * says: rank 0: MPI_Iallreduce(1 x MPI_INT, MPI_SUM) at ...@a */
static void reduction_in_flight_of_other_types(void) {
  const MPI_Datatype type = rank == 0 ? MPI_INT : MPI_FLOAT;
  MPI_Request request;
  MPI_Iallreduce(numbers, reals, 1, type, MPI_SUM, MPI_COMM_WORLD, &request); /* @a */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"int-as-double", int_as_double},
      {"int-as-float", int_as_float},
      {"bytes-as-int", bytes_as_int},
      {"char-as-byte", char_as_byte},
      {"order-in-a-struct", order_in_a_struct},
      {"column-of-another-type", column_of_another_type},
      {"too-long", too_long},
      {"exchange", exchange},
      {"exchange-in-flight", exchange_in_flight},
      {"persistent", persistent},
      {"probed", probed},
      {"returned", returned},
      {"renumbered", renumbered},
      {"broadcast", broadcast},
      {"gather-to-another-type", gather_to_another_type},
      {"alltoallw-of-other-types", alltoallw_of_other_types},
      {"scan-of-other-types", scan_of_other_types},
      {"reduction-in-flight-of-other-types", reduction_in_flight_of_other_types},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, NULL);
}
