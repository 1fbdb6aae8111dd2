// A program at a fixed address, for which a function's address is in its own table of calls, with
// LD_BIND_NOW set to nothing.
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  pid_t (*volatile function)(void) = getpid;
  MPI_Init(&argc, &argv);
  const int is_same = function() == getpid();
  MPI_Finalize();
  return !is_same;
}
