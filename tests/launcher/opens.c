/* opens LIBRARY FUNCTION: an MPI program that opens a library and calls a function of it. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  int (*const function)(void) = (int (*)(void))dlsym(library, argv[2]);
  function();
  MPI_Finalize();
  return 0;
}
