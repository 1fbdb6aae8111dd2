// The names of libmpi_mpifh.so.40 and libmpi_usempif08.so.40: those of mpif.h in all spellings that compilers
// have, mpi_x, mpi_x_, mpi_x__ and MPI_X; those of mpi_f08, whose buffers are addresses, too; and those by
// which Open MPI's own libraries call each other, MPI_X_f, MPI_X_f08 and ompi_x_f.
#pragma once

#include "family_names.h"

#ifdef CLUMP_FORTRAN_PROFILING
#define CLUMP_EXTENSION(name) pmpix_##name
#define CLUMP_EXTENSION_CAPITALS(name) PMPIX_##name
#define CLUMP_INTERNAL(result, name, parameters) CLUMP_SECOND(result, ompi_##name##_f, name, parameters)
#else
#define CLUMP_EXTENSION(name) mpix_##name
#define CLUMP_EXTENSION_CAPITALS(name) MPIX_##name
#define CLUMP_INTERNAL(result, name, parameters)
#endif
#define CLUMP_EXTENSION_CAPITALS_OF(name) CLUMP_EXTENSION_CAPITALS(name)

#define CLUMP_NAMED(result, name, parameters)                                          \
  CLUMP_SECOND(result, CLUMP_FORTRAN(name), name, parameters)                          \
  CLUMP_SECOND(result, CLUMP_FORTRAN(name##__), name, parameters)                      \
  CLUMP_SECOND(result, CLUMP_CAPITALS_OF(CLUMP_CAPITALS_OF_##name), name, parameters)  \
  CLUMP_SECOND(result, CLUMP_CAPITALS_OF(CLUMP_NAME_IN_C_OF_##name), name, parameters) \
  CLUMP_INTERNAL(result, name, parameters)                                             \
  extern "C" CLUMP_PUBLIC result CLUMP_FORTRAN(name##_) parameters;                    \
  extern "C" result CLUMP_FORTRAN(name##_) parameters

#define CLUMP_ENTRY(name, parameters) CLUMP_NAMED(void, name, parameters)
#define CLUMP_OF_MODULE(name, parameters)                      \
  extern "C" CLUMP_PUBLIC void CLUMP_FORTRAN(name) parameters; \
  extern "C" void CLUMP_FORTRAN(name) parameters
#define CLUMP_F08(name, parameters) CLUMP_OF_MODULE(name##_f08_, parameters)
#define CLUMP_F08_LARGE(name, parameters) CLUMP_OF_MODULE(name##_c_f08_, parameters)
#define CLUMP_BOTH(name, parameters)                               \
  CLUMP_SECOND(void, CLUMP_FORTRAN(name##_f08_), name, parameters) \
  CLUMP_ENTRY(name, parameters)
#define CLUMP_FUNCTION(result, name, parameters)                     \
  CLUMP_SECOND(result, CLUMP_FORTRAN(name##_f08_), name, parameters) \
  CLUMP_NAMED(result, name, parameters)

/// The names of a persistent collective operation in Open MPI 4: mpix_x_.
#define CLUMP_EARLY_NAMES(name, parameters)                          \
  CLUMP_SECOND(void, CLUMP_EXTENSION(name), name, parameters)        \
  CLUMP_SECOND(void, CLUMP_EXTENSION(name##_), name, parameters)     \
  CLUMP_SECOND(void, CLUMP_EXTENSION(name##__), name, parameters)    \
  CLUMP_SECOND(void, CLUMP_EXTENSION(name##_f08_), name, parameters) \
  CLUMP_SECOND(void, CLUMP_EXTENSION_CAPITALS_OF(CLUMP_CAPITALS_OF_##name), name, parameters)
