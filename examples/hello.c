/* Every rank says who it is. `counter` is an ordinary global variable: each rank has its own, even when all
 * ranks are in one process. */
#include <mpi.h>
#include <stdio.h>

static int counter;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);

  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  for (int i = 0; i <= rank; ++i) ++counter;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("Hello from rank %d of %d: my counter is %d, at %p\n", rank, size, counter, (void*)&counter);

  MPI_Finalize();
  return counter == rank + 1 ? 0 : 1;
}
