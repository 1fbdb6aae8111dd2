/* A rank spawns two more of the same program; each says what it is. With an argument the children fail once
 * they are disconnected. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Comm parent, children;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  puts(parent == MPI_COMM_NULL ? "parent" : "child");
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  else
    children = parent;
  MPI_Comm_disconnect(&children);
  if (parent != MPI_COMM_NULL && argc > 1) {
    /* One that is ended before it has disconnected would end the parent, too. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(argv[1], "early") == 0) exit(6);
    if (strcmp(argv[1], "signal") == 0) abort();
  }
  MPI_Finalize();
  if (argc > 1 && parent == MPI_COMM_NULL) usleep(100000);
  return argc > 1 && parent != MPI_COMM_NULL ? 5 : 0;
}
