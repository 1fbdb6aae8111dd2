/* A tool's MPI_X goes before the library's, and reaches it as PMPI_X (MPI-5.0 section 15.2). */
#include "check.h"

static int barriers;

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

int main(int argc, char** argv) {
  PMPI_Init(&argc, &argv);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(PMPI_Barrier(MPI_COMM_WORLD));
  CHECK_EQ(barriers, 1);
  MPI_Finalize();
  return check_result();
}
