/* Counts what is wrong with a rank, and says it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, wrong;

static void expect_number(const char* what, long is, long should_be) {
  if (is == should_be) return;
  ++wrong;
  printf("rank %d: %s is %ld, not %ld\n", rank, what, is, should_be);
}

static void expect_text(const char* what, const char* is, const char* should_be) {
  if (is != NULL && strcmp(is, should_be) == 0) return;
  ++wrong;
  printf("rank %d: %s is \"%s\", not \"%s\"\n", rank, what, is != NULL ? is : "(null)", should_be);
}

static void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* The code to end with: the same for all ranks. */
static int end(void) {
  int all;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
