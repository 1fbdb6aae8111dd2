/* A tool that wraps a procedure of Fortran, and has a function of its own whose name is a spelling of another
 * one's. The program is linked to it. */
#include <stdio.h>

void pmpi_comm_size_(int* comm, int* size, int* error);

void mpi_init(const char* what) {
  printf("%s\n", what);
  fflush(stdout);
}

void mpi_comm_size_(int* comm, int* size, int* error) {
  mpi_init("seen in Fortran");
  pmpi_comm_size_(comm, size, error);
}
