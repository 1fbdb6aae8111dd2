/* Two ranks spawn three, of which the last one does what the argument says. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, value = 0;
  MPI_Comm parent, inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (parent == MPI_COMM_NULL) {
    char* arguments[] = {argv[1], NULL};
    MPI_Comm_spawn(argv[0], arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    if (strcmp(argv[1], "apart") == 0) {
      MPI_Comm_disconnect(&inter);
      if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else if (strncmp(argv[1], "hold", 4) == 0) {
      puts("spawned");
      fflush(stdout);
      sleep(1000);
    }
    if (strcmp(argv[1], "abort") == 0 || strcmp(argv[1], "exit") == 0 || strcmp(argv[1], "deadlock") == 0)
      MPI_Recv(&value, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
  } else if (strcmp(argv[1], "apart") == 0) {
    MPI_Comm_disconnect(&parent);
  } else if (strncmp(argv[1], "hold", 4) == 0) {
    sleep(1000);
  } else if (rank == size - 1) {
    if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(argv[1], "exit") == 0) return 0;
    if (strcmp(argv[1], "output") == 0) printf("hello from %d of %d\n", rank, size);
    if (strcmp(argv[1], "universe") == 0) {
      int *expected = NULL, flag = 0;
      MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &expected, &flag);
      printf("%d ranks are expected\n", flag ? *expected : -1);
    }
    if (strcmp(argv[1], "deadlock") == 0) MPI_Recv(&value, 1, MPI_INT, 0, 2, parent, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return argc == 0;
}
