// The shortest MPI program in C++, with what the C++ library needs at the start: run.py measures how long
// mpiexec takes with it.
#include <mpi.h>

#include <iostream>
#include <string>

static std::string greeting = "ready";

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  greeting += std::to_string(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::cout << greeting << std::endl;
  MPI_Finalize();
  return 0;
}
