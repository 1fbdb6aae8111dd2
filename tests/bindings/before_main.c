/* MPI before main() and after it: in a constructor and a destructor of a library that is linked (LIBRARY),
 * and in a preinit function of the program. */
#include <mpi.h>
#include <stdio.h>

#ifdef LIBRARY
static MPI_Comm copy;
int library_sum;

__attribute__((constructor)) static void begin(void) {
  int begun, one = 1;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init(NULL, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allreduce(&one, &library_sum, 1, MPI_INT, MPI_SUM, copy);
}

__attribute__((destructor)) static void end(void) {
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Finalize();
}
#else
extern int library_sum;

#ifdef PREINIT
static void begin(int argc, char** argv, char** environment) {
  (void)environment;
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
}
__attribute__((section(".preinit_array"), used)) static void (*const kBegin)(int, char**, char**) = begin;
#endif

int main(void) {
  printf("%d\n", library_sum);
  return 0;
}
#endif
