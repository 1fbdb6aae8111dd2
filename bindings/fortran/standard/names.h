// The names of libmpifort_abi.so.1. Those in object files have an underscore at the end, with gfortran and
// with flang. What mpi_f08 calls has the names of MPI-5.0 section 19.1.5: mpi_x_f08_, or mpi_x_f08ts_ if it
// takes descriptors.
#pragma once

#define CLUMP_NAMED(result, name, parameters)                       \
  extern "C" CLUMP_PUBLIC result CLUMP_FORTRAN(name##_) parameters; \
  extern "C" result CLUMP_FORTRAN(name##_) parameters

#define CLUMP_ENTRY(name, parameters) CLUMP_NAMED(void, name, parameters)
#define CLUMP_F08(name, parameters) CLUMP_NAMED(void, name##_f08, parameters)
#define CLUMP_F08TS(name, parameters) CLUMP_NAMED(void, name##_f08ts, parameters)
#define CLUMP_F08_LARGE(name, parameters) CLUMP_F08(name##_c, parameters)
#define CLUMP_F08TS_LARGE(name, parameters) CLUMP_F08TS(name##_c, parameters)
#define CLUMP_BOTH(name, parameters)        \
  CLUMP_ALIAS(name##_f08, name, parameters) \
  CLUMP_ENTRY(name, parameters)
#define CLUMP_FUNCTION(result, name, parameters)                     \
  CLUMP_SECOND(result, CLUMP_FORTRAN(name##_f08_), name, parameters) \
  CLUMP_NAMED(result, name, parameters)
#define CLUMP_PREDEFINED(name, parameters)               \
  extern "C" CLUMP_PUBLIC void mpi_##name##_ parameters; \
  void mpi_##name##_ parameters
