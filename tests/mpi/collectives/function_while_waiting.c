/* A user's function is called while the main thread waits, in the World model: the thread that starts the
   reduction also makes the operation (MPI-5.0 section 6.12). */
#include "function_while_waiting.h"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  reduce_while_waiting(comm, MPI_COMM_WORLD, NULL);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return check_result();
}
