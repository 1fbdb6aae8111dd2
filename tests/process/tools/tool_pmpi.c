/* A profiling tool by the standard's profiling interface, as mpiP, IPM and Score-P are: statics, a
 * constructor, counts that it gathers in MPI_Finalize. It is preloaded or linked before the MPI library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank = -1;
static int constructed;
static long sends;
static __thread long sends_of_thread;
static long* const counts[] = {&sends};

__attribute__((constructor)) static void begin(void) { ++constructed; }

int MPI_Init(int* argc, char*** argv) {
  const int error = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return error;
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++*counts[0];
  ++sends_of_thread;
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

/* What the program asks by dlsym(). */
long tool_sends(void) { return sends; }
long tool_sends_of_thread(void) { return sends_of_thread; }
int tool_rank(void) { return rank; }
int tool_constructed(void) { return constructed; }

int MPI_Finalize(void) {
  int size, real;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &real);
  long* all = malloc((size_t)size * sizeof *all);
  PMPI_Gather(&sends, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int i = 0; real == 0 && i < size; ++i) {
    if (all[i] != 10 * (i + 1)) {
      printf("the tool of rank %d has counted %ld sends, not %d\n", i, all[i], 10 * (i + 1));
      exit(1);
    }
  }
  free(all);
  return PMPI_Finalize();
}
