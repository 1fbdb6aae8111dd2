/* Read before every file of MPICH's tests, so that they suit MPI-5.0 and the standard ABI. */
#ifndef CLUMP_TESTS_REAL_MPICH_COMPAT_H
#define CLUMP_TESTS_REAL_MPICH_COMPAT_H

#include <mpi.h>

/* MPI-3.0 removed these names; what came in their place takes the same arguments. */
#define MPI_Address MPI_Get_address
#define MPI_Type_hvector MPI_Type_create_hvector
#define MPI_Type_hindexed MPI_Type_create_hindexed
#define MPI_Type_struct MPI_Type_create_struct
#define MPI_Errhandler_create MPI_Comm_create_errhandler
#define MPI_Errhandler_set MPI_Comm_set_errhandler
#define MPI_Errhandler_get MPI_Comm_get_errhandler
#define MPI_Handler_function MPI_Comm_errhandler_function

/* mpi.h has these conversions as inline functions, which have no names for tools. */
#define PMPI_Message_c2f MPI_Message_c2f
#define PMPI_Message_f2c MPI_Message_f2c

/* Since MPI-4.0, errors of calls that have no communicator are raised on MPI_COMM_SELF. The tests expect them
   where MPI-3.1 had them, on MPI_COMM_WORLD. */
static inline int set_for_calls_without_communicator_too(MPI_Comm comm, MPI_Errhandler handler) {
  if (comm == MPI_COMM_WORLD) MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  return MPI_Comm_set_errhandler(comm, handler);
}
#define MPI_Comm_set_errhandler set_for_calls_without_communicator_too

#endif
