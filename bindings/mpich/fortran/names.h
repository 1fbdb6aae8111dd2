// The names of libmpifort.so.12: those of mpif.h in all spellings that compilers have, mpi_x, mpi_x_, mpi_x__
// and MPI_X; those of mpi_f08 as gfortran has them, whose names of PMPI's begin with pmpir_.
#pragma once

#include "family_names.h"

#ifdef CLUMP_FORTRAN_PROFILING
#define CLUMP_MODULE(name) pmpir_##name
#else
#define CLUMP_MODULE(name) mpi_##name
#endif

#define CLUMP_NAMED(result, name, parameters)                                         \
  CLUMP_SECOND(result, CLUMP_FORTRAN(name), name, parameters)                         \
  CLUMP_SECOND(result, CLUMP_FORTRAN(name##__), name, parameters)                     \
  CLUMP_SECOND(result, CLUMP_CAPITALS_OF(CLUMP_CAPITALS_OF_##name), name, parameters) \
  extern "C" CLUMP_PUBLIC result CLUMP_FORTRAN(name##_) parameters;                   \
  extern "C" result CLUMP_FORTRAN(name##_) parameters
#define CLUMP_OF_MODULE(name, parameters)                     \
  extern "C" CLUMP_PUBLIC void CLUMP_MODULE(name) parameters; \
  extern "C" void CLUMP_MODULE(name) parameters

#define CLUMP_ENTRY(name, parameters) CLUMP_NAMED(void, name, parameters)
#define CLUMP_F08(name, parameters) CLUMP_OF_MODULE(name##_f08_, parameters)
#define CLUMP_F08TS(name, parameters) CLUMP_OF_MODULE(name##_f08ts_, parameters)
#define CLUMP_F08_LARGE(name, parameters) CLUMP_OF_MODULE(name##_f08_large_, parameters)
#define CLUMP_F08TS_LARGE(name, parameters) CLUMP_OF_MODULE(name##_f08ts_large_, parameters)
#define CLUMP_BOTH(name, parameters)                              \
  CLUMP_SECOND(void, CLUMP_MODULE(name##_f08_), name, parameters) \
  CLUMP_ENTRY(name, parameters)
#define CLUMP_FUNCTION(result, name, parameters)                    \
  CLUMP_SECOND(result, CLUMP_MODULE(name##_f08_), name, parameters) \
  CLUMP_NAMED(result, name, parameters)
