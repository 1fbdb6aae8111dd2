// Names that the Fortran libraries of MPICH's and Open MPI's ABIs have alike: those in capitals, and those of
// predefined functions. names.inc has the capitals of each name.
#pragma once

#include "names.inc"

#ifdef CLUMP_FORTRAN_PROFILING
#define CLUMP_CAPITALS(name) PMPI_##name
#else
#define CLUMP_CAPITALS(name) MPI_##name
#endif
#define CLUMP_CAPITALS_OF(name) CLUMP_CAPITALS(name)

#define CLUMP_PREDEFINED(name, parameters)                                          \
  CLUMP_SECOND(void, CLUMP_FORTRAN(name), name, parameters)                         \
  CLUMP_SECOND(void, CLUMP_FORTRAN(name##__), name, parameters)                     \
  CLUMP_SECOND(void, CLUMP_CAPITALS_OF(CLUMP_CAPITALS_OF_##name), name, parameters) \
  CLUMP_SECOND(void, __mpi_f08_callbacks_MOD_mpi_##name, name, parameters)          \
  extern "C" CLUMP_PUBLIC void mpi_##name##_ parameters;                            \
  void mpi_##name##_ parameters
