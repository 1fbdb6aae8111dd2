/* Names with an escape sequence in them, in what Clump tells: names comm | abort | hang | window | left |
   lookup [NAME]. */
#include "../mpi/check.h"

#define ESCAPE "\033]0;taken\007"

static void tell(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  printf("%s\n", text);
}

int main(int argc, char** argv) {
  MPI_Comm comm;
  int rank, none = 0;
  MPI_Init(&argc, &argv);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "a communicator" ESCAPE);
  if (strcmp(argv[1], "comm") == 0) MPI_Send(&rank, 1, MPI_INT, 99, 0, comm);
  if (strcmp(argv[1], "hang") == 0) MPI_Recv(&none, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  if (strcmp(argv[1], "abort") == 0) MPI_Abort(comm, 3);
  if (strcmp(argv[1], "window") == 0) { /* no rank of two comes on: a deadlock is told */
    MPI_Win window;
    MPI_Win_create(&none, sizeof none, 1, MPI_INFO_NULL, comm, &window);
    MPI_Win_set_name(window, "a window" ESCAPE);
    if (rank == 0) MPI_Win_fence(0, window);
    MPI_Recv(&none, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE);
  }
  if (strcmp(argv[1], "left") == 0) { /* --check tells of a message that is not received */
    MPI_Request request;
    if (rank == 0) MPI_Isend(&rank, 1, MPI_INT, 0, 7, comm, &request);
    if (rank == 0) MPI_Request_free(&request);
  }
  if (strcmp(argv[1], "lookup") == 0) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    tell(MPI_Lookup_name(argc > 2 ? argv[2] : "a service" ESCAPE, MPI_INFO_NULL, port));
    if (argc == 2) tell(MPI_Comm_connect("a port" ESCAPE, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm));
  }
  MPI_Finalize();
  return 0;
}
