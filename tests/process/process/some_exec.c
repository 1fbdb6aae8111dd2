// Only rank 1 replaces itself before MPI_Init: first (run with "first"), or when the others have called
// MPI_Init
// ("last"). Ranks of a shared process cannot do that; right is an error that says so, never a hang and never
// code 0. As processes it works, and says "ok".
//
// Stands for jobs in which one rank is started under a debugger or another tool by exec.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "first";
  const int is_one = getenv("PMI_RANK") != NULL && atoi(getenv("PMI_RANK")) == 1;
  if (is_one && getenv("SOME_EXEC") == NULL) {
    if (!strcmp(mode, "last")) usleep(300000);
    setenv("SOME_EXEC", "1", 1);
    execv("/proc/self/exe", argv);
    return 9;
  }
  if (!is_one && !strcmp(mode, "first")) usleep(300000);
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
