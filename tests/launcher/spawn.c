/* A rank spawns two more of the same program; each says what it is. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm parent, children;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  puts(parent == MPI_COMM_NULL ? "parent" : "child");
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  else
    children = parent;
  MPI_Comm_disconnect(&children);
  MPI_Finalize();
  return 0;
}
