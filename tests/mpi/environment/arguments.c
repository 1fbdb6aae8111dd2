/* What the entry points check before anything else: each kind of argument, its error class, and a message
 * that helps. */
#include "check.h"

static int value, rank, size;

static void message_has(int code, const char* words) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  CHECK_OK(MPI_Error_string(code, text, &length));
  if (strstr(text, words) == NULL) CHECK_FAILED("\"%s\" does not contain \"%s\"", text, words);
}

static void communicators(void) {
  MPI_Comm freed;
  int code;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &freed));
  MPI_Comm stale = freed;
  CHECK_OK(MPI_Comm_free(&freed));
  code = MPI_Send(&value, 1, MPI_INT, 0, 0, stale);
  CHECK_CLASS(code, MPI_ERR_COMM);
  message_has(code, "MPI_Send(comm = ");
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_rank((MPI_Comm)0, &rank), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_free(NULL), MPI_ERR_COMM);
}

static void ranks_and_tags(void) {
  int code = MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  CHECK_CLASS(code, MPI_ERR_RANK);
  message_has(code, "MPI_Send(dest = ");
  message_has(code, "MPI_COMM_WORLD");
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Recv(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, -1, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_CLASS(MPI_Bcast(&value, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
  CHECK_OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
}

static void data(void) {
  MPI_Datatype pair;
  int code = MPI_Send(&value, -3, MPI_INT, 0, 0, MPI_COMM_WORLD);
  CHECK_CLASS(code, MPI_ERR_COUNT);
  message_has(code, "MPI_Send(count = -3)");
  code = MPI_Send_c(&value, -3, MPI_INT, 0, 0, MPI_COMM_WORLD);
  CHECK_CLASS(code, MPI_ERR_COUNT);
  message_has(code, "MPI_Send_c(count = -3)");
  CHECK_CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  CHECK_OK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
  code = MPI_Send(&value, 1, pair, 0, 0, MPI_COMM_WORLD);
  CHECK_CLASS(code, MPI_ERR_TYPE);
  message_has(code, "MPI_Type_commit");
  CHECK_OK(MPI_Type_free(&pair));
}

/* MPI_BOTTOM is the null pointer, and right for a type with absolute addresses. */
static void bottom(void) {
  MPI_Datatype absolute;
  MPI_Aint address;
  int length = 1, source = 10 + rank, target = 0;
  CHECK_OK(MPI_Get_address(&source, &address));
  CHECK_OK(MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute));
  CHECK_OK(MPI_Type_commit(&absolute));
  CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, 5, &target, 1, MPI_INT, 0, 5, MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
  CHECK_EQ(target, source);
  CHECK_OK(MPI_Type_free(&absolute));
}

static void pointers(void) {
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
  CHECK_OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  CHECK_CLASS(MPI_Waitall(-1, NULL, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
}

/* Arguments that mean nothing in this process may be anything. */
static void insignificant(void) {
  int all[64] = {0}, mine = rank + 1;
  CHECK_OK(rank == 0 ? MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD)
                     : MPI_Gather(&mine, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
  if (rank == 0) CHECK_EQ(all[size - 1], size);
  all[rank] = mine;
  CHECK_OK(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK_EQ(all[size - 1], size);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  communicators();
  ranks_and_tags();
  data();
  bottom();
  pointers();
  insignificant();
  MPI_Finalize();
  return check_result();
}
