// MPI_Finalize is the last thing that a rank does, wherever: in an exit handler that was registered before or
// after MPI_Init, in a destructor of the program, in a handler of quick_exit(). The rank has then ended in
// order. For: libraries that own MPI and call atexit(), objects whose constructor calls MPI_Init and whose
// destructor MPI_Finalize. Without MPI_Finalize the handlers run all the same, and may end the rank in their
// own way.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, in_destructor;
static const char* how;

static void finalize(void) {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != size * (size - 1) / 2) abort();
  MPI_Finalize();
  if (rank == 0) printf("finalized last\n");
  fflush(stdout);  // which quick_exit() does not do
}

static void with_own_code(void) { _exit(34); }

__attribute__((destructor)) static void in_the_end(void) {
  if (in_destructor) finalize();
}

int main(int argc, char** argv) {
  how = argv[1];
  if (strcmp(how, "before_init") == 0) atexit(finalize);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(how, "atexit") == 0) atexit(finalize);
  if (strcmp(how, "destructor") == 0) in_destructor = 1;
  if (strcmp(how, "quick_exit") == 0) {
    at_quick_exit(finalize);
    quick_exit(0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int ends = strcmp(how, "own_code") == 0 ? atexit(with_own_code) == 0
                                                : strcmp(how, "abort") == 0 && atexit(abort) == 0;
  if (ends && rank != 1) MPI_Barrier(MPI_COMM_WORLD);  // in which rank 1 does not take part
  if (strcmp(how, "never") == 0) printf("rank %d never calls it\n", rank);
  return 0;
}
