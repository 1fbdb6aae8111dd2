/* Stands for the library for Fortran when the program is linked. */
#define PROCEDURE(name)  \
  void name(int* error); \
  void name(int* error) { *error = 1; }
PROCEDURE(mpi_init_)
PROCEDURE(mpi_comm_size_)
PROCEDURE(mpi_comm_rank_)
PROCEDURE(mpi_finalize_)
PROCEDURE(mpi_not_there_)
