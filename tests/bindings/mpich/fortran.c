/* A program in Fortran for a linker and for ld.so: calls what gfortran would, with -DMISSING a procedure that
   no library of MPI's has. */
#include <mpi.h>
#include <stdio.h>

void mpi_init_(int* error);
void mpi_comm_size_(const int* comm, int* size, int* error);
void mpi_comm_rank_(const int* comm, int* rank, int* error);
void mpi_finalize_(int* error);
void mpi_not_there_(int* error);

int main(int argc, char** argv) {
  int error = 0, size = 0, rank = 0;
  (void)argv;
#ifdef MISSING
  if (argc > 9) mpi_not_there_(&error);
#else
  (void)argc;
#endif
  mpi_init_(&error);
  if (error != MPI_SUCCESS) return 1;
  const MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD);
  mpi_comm_size_(&world, &size, &error);
  mpi_comm_rank_(&world, &rank, &error);
  if (rank == 0 && error == MPI_SUCCESS) printf("all of it holds for %d ranks\n", size);
  mpi_finalize_(&error);
  return error;
}
