/* The fields of a status, through its own functions. */
#include "check.h"

int main(int argc, char** argv) {
  int rank, size, value = -1, got = 0, flag = -1;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors that belong to no communicator */
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;

  memset(&status, 0x55, sizeof status);
  status.MPI_ERROR = 4711; /* a single completion leaves it alone */
  CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 12, &value, 1, MPI_INT, left, 12, MPI_COMM_WORLD, &status));
  CHECK_OK(MPI_Status_get_source(&status, &got));
  CHECK_EQ(got, left);
  CHECK_OK(MPI_Status_get_tag(&status, &got));
  CHECK_EQ(got, 12);
  CHECK_OK(MPI_Status_get_error(&status, &got));
  CHECK_EQ(got, 4711);
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 0);

  CHECK_OK(MPI_Status_set_source(&status, 5));
  CHECK_OK(MPI_Status_set_tag(&status, 6));
  CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
  CHECK_OK(MPI_Status_set_cancelled(&status, 1));
  CHECK_OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 3));
  CHECK_EQ(status.MPI_SOURCE, 5);
  CHECK_EQ(status.MPI_TAG, 6);
  CHECK_EQ(status.MPI_ERROR, MPI_ERR_TRUNCATE);
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &got));
  CHECK_EQ(got, 3);
  CHECK_OK(MPI_Status_set_cancelled(&status, 0));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_Get_count(&status, MPI_DOUBLE, &got));
  CHECK_EQ(got, 3);

  /* What is set need not be what a receive could have given: mpi4py begins each status of its own like this.
   */
  CHECK_OK(MPI_Status_set_source(&status, MPI_ANY_SOURCE));
  CHECK_OK(MPI_Status_set_tag(&status, MPI_ANY_TAG));
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
  CHECK_OK(MPI_Status_set_tag(&status, -4711));
  CHECK_EQ(status.MPI_TAG, -4711);

  /* The empty status has an error, too: none. */
  MPI_Request none = MPI_REQUEST_NULL;
  int index = 0;
  status.MPI_ERROR = 4711;
  CHECK_OK(MPI_Wait(&none, &status));
  CHECK_EQ(status.MPI_ERROR, MPI_SUCCESS);
  status.MPI_ERROR = 4711;
  CHECK_OK(MPI_Request_get_status(none, &flag, &status));
  CHECK_EQ(status.MPI_ERROR, MPI_SUCCESS);
  status.MPI_ERROR = 4711;
  CHECK_OK(MPI_Waitany(1, &none, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK_EQ(status.MPI_ERROR, MPI_SUCCESS);
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);

  CHECK_CLASS(MPI_Status_get_source(MPI_STATUS_IGNORE, &got), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_get_tag(&status, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_get_error(NULL, &got), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_set_source(MPI_STATUS_IGNORE, 1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_set_tag(NULL, 1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_set_error(NULL, 1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Status_set_cancelled(NULL, 1), MPI_ERR_ARG);
  MPI_Finalize();
  return check_result();
}
