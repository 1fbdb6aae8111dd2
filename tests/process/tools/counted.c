/* Compiled with --coverage: each rank has counters of its own and adds them to the same file when it ends, as
 * the processes of a job do that share a folder. gcov_test.py compares what gcov says with what has been
 * called. */
#include <mpi.h>
#include <stdlib.h>

static int work(int number) { return number + 1; /* this line is counted */ }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 1000 * (rank + 1); ++i) {
    if (work(i) != i + 1) abort();
  }
  MPI_Finalize();
  return 0;
}
