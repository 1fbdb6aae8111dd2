// An object of the program calls MPI_Init in its constructor and MPI_Finalize in its destructor.
#include <mpi.h>

#include <cstdio>

namespace {

struct Environment {
  Environment() { MPI_Init(nullptr, nullptr); }
  ~Environment() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank == 0) std::printf("finalized last\n");
  }
};
const Environment environment;

}  // namespace

int main() { return MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS; }
