// A library calls atexit() with the function that calls MPI_Finalize, and the program has no exit handler of its
// own. For: gerris, whose library registers MPI_Finalize itself.
#include <mpi.h>
#include <stdio.h>

int register_at_exit(void (*handler)(void));

static int rank;

static void finalize(void) {
  MPI_Finalize();
  if (rank == 0) printf("finalized last\n");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return register_at_exit(finalize);
}
