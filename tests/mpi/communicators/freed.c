/* An operation that goes on in a communicator which the program has freed fails: its error handler gets a
   handle of that communicator, as long as its function runs. */
#include "check.h"

static int called, size_there, same_handle;
static MPI_Comm world_copy;

static void on_error(MPI_Comm* comm, int* code, ...) {
  int class = MPI_SUCCESS;
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  ++called;
  MPI_Error_class(*code, &class);
  CHECK_EQ(class, MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Comm_size(*comm, &size_there));
  CHECK_OK(MPI_Comm_get_name(*comm, name, &length));
  CHECK_STR(name, "freed");
  same_handle = *comm == world_copy;
}

static void fail_after(int frees) {
  int rank, size, room = 0;
  const int values[4] = {0};
  MPI_Errhandler handler;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world_copy));
  CHECK_OK(MPI_Comm_set_name(world_copy, "freed"));
  CHECK_OK(MPI_Comm_create_errhandler(on_error, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(world_copy, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  MPI_Comm copy = world_copy, others;
  CHECK_OK(MPI_Irecv(&room, 1, MPI_INT, rank, 7, copy, &request));
  CHECK_OK(MPI_Send(values, 4, MPI_INT, rank, 7, copy));
  if (frees) {
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &others)); /* takes the place */
  }
  called = size_there = 0;
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  CHECK_EQ(called, 1);
  CHECK_EQ(size_there, size);
  CHECK_EQ(same_handle, !frees);
  CHECK_OK(frees ? MPI_Comm_free(&others) : MPI_Comm_free(&copy));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  fail_after(0);
  fail_after(1);
  MPI_Finalize();
  return check_result();
}
