/* A program that frees nothing: the end of the last session does, however often sessions come and go. */
#include <malloc.h>

#include "session.h"

enum { kWarmUp = 4, kRounds = 30, kGroups = 200, kRanksEach = 64 };

static int ignore(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm* comm, int* code, ...) { (void)comm, (void)code; }

static void combine(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

/* Objects of all kinds, in use and not. */
static void litter(MPI_Comm comm) {
  static char value, buffer[64];
  int size = 0, rank = 0, key = 0, sum = 0;
  MPI_Comm copy, half, grid;
  MPI_Group group, part;
  MPI_Datatype type, other;
  MPI_Op op;
  MPI_Errhandler handler;
  MPI_Request requests[3];
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_dup(comm, &copy));
  CHECK_OK(MPI_Comm_split(copy, rank % 2, 0, &half));
  CHECK_OK(MPI_Cart_create(comm, 1, &size, (int[]){0}, 0, &grid));
  CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, ignore, &key, NULL));
  CHECK_OK(MPI_Comm_set_attr(copy, key, &value));
  CHECK_OK(MPI_Comm_create_errhandler(on_error, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(half, handler));
  CHECK_OK(MPI_Errhandler_free(&handler)); /* may be used without MPI, so it is the program's to free */
  CHECK_OK(MPI_Comm_group(half, &group));
  CHECK_OK(MPI_Type_vector(kRanksEach, 1, 3, MPI_INT, &type));
  CHECK_OK(MPI_Type_commit(&type));
  CHECK_OK(MPI_Type_contiguous(2, type, &other));
  CHECK_OK(MPI_Op_create(combine, 1, &op));
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy));
  for (int i = 0; i < kGroups; ++i) CHECK_OK(MPI_Group_incl(group, 1, (int[]){0}, &part));
  CHECK_OK(MPI_Send_init(buffer, 1, MPI_CHAR, rank, 0, copy, &requests[0]));
  CHECK_OK(MPI_Recv_init(buffer, 1, MPI_CHAR, rank, 0, copy, &requests[1]));
  CHECK_OK(MPI_Startall(2, requests));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_Irecv(buffer, 1, MPI_CHAR, MPI_ANY_SOURCE, 7, half, &requests[2])); /* nobody sends that */
}

static void one_round(void) {
  MPI_Session session = open_session();
  MPI_Comm world = comm_of(session, "mpi://WORLD", "round");
  litter(world);
  CHECK_OK(MPI_Session_finalize(&session));
}

int main(void) {
  size_t before = 0;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    if (round == kWarmUp) before = mallinfo2().uordblks;
    one_round();
  }
  /* A round's litter is some 40 kB; what another rank has at this moment may be a few times that. */
  const size_t after = mallinfo2().uordblks;
  const size_t grown = after > before ? after - before : 0;
  if (grown > 400000) CHECK_FAILED("the heap has grown by %zu bytes in %d rounds", grown, kRounds);
  return check_result();
}
