// As hello.c, in C++.
#include <mpi.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::string version(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int rank = 0, one = 1, ranks = 0, length = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Get_library_version(&version[0], &length);
  if (rank == 0) std::cout << ranks << " ranks, " << version.substr(0, length) << std::endl;
  MPI_Finalize();
}
