/* More thread-local memory than the stack that a kernel thread of Clump's own has. */
#include <mpi.h>

static _Thread_local char large[1 << 20];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  large[rank] = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  for (unsigned i = 0; i < sizeof large; ++i) sum += large[i];
  if (sum != 1) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Finalize();
  return 0;
}
