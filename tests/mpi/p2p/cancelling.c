/* MPI_Cancel: of receives always while they wait, of sends that nobody has matched; never of what has
 * happened. */
#include "check.h"

int main(int argc, char** argv) {
  int rank, size, flag, value = 0;
  static int big[50000];
  MPI_Request request;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* for errors that belong to no communicator */

  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&value, 1, MPI_INT, i == 0 ? MPI_ANY_SOURCE : 0, i == 1 ? MPI_ANY_TAG : 40, MPI_COMM_WORLD,
              &request);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(request, MPI_REQUEST_NULL);
  }

  MPI_Barrier(MPI_COMM_WORLD); /* the receives above must not meet the send below */

  /* A synchronous send without a receive can be taken back, and is gone. */
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Issend(big, 50000, MPI_INT, right, 41, MPI_COMM_WORLD, &request);
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Iprobe(left, 41, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(flag, 0);

  /* What was received cannot be cancelled any more. */
  MPI_Irecv(&value, 1, MPI_INT, left, 42, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, right, 42, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Cancel(&request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_Test_cancelled(&status, &flag));
  CHECK_EQ(flag, 0);
  CHECK_EQ(value, left);

  request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  MPI_Finalize();
  return check_result();
}
