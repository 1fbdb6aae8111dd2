/* What basics.F90 asks of C, called as gfortran does. */
#include <mpi.h>

int size_in_c_(const MPI_Fint* comm);
int is_double_in_c_(const MPI_Fint* type);
int world_of_c_(void);

int size_in_c_(const MPI_Fint* comm) {
  int size = -1;
  MPI_Comm_size(MPI_Comm_f2c(*comm), &size);
  return size;
}

int is_double_in_c_(const MPI_Fint* type) { return MPI_Type_f2c(*type) == MPI_DOUBLE; }

int world_of_c_(void) { return MPI_Comm_c2f(MPI_COMM_WORLD); }
