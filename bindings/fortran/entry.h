// How the functions of these libraries are named. Every source with entry points is compiled twice: for the
// names of MPI, which call MPI_X of the C library, and with CLUMP_FORTRAN_PROFILING for those of PMPI, which
// call PMPI_X. So a tool that wraps MPI_X in C sees the calls of a Fortran program, and one that wraps mpi_x_
// and goes on by pmpi_x_ is not seen by it.
#pragma once

#include "mpi.h"

#ifdef CLUMP_FORTRAN_PROFILING
#define CLUMP_C(name) PMPI_##name
#define CLUMP_FORTRAN(name) pmpi_##name
#else
#define CLUMP_C(name) MPI_##name
#define CLUMP_FORTRAN(name) mpi_##name
#endif

#define CLUMP_PUBLIC __attribute__((visibility("default")))
#define CLUMP_TEXT_(text) #text
#define CLUMP_TEXT(text) CLUMP_TEXT_(text)

/// A second name of the function of CLUMP_ENTRY(name, ...), which follows in the same source.
#define CLUMP_SECOND(result, second, name, parameters) \
  extern "C" CLUMP_PUBLIC result second parameters __attribute__((alias(CLUMP_TEXT(CLUMP_FORTRAN(name##_)))));
#define CLUMP_ALIAS(alias_name, name, parameters) \
  CLUMP_SECOND(void, CLUMP_FORTRAN(alias_name##_), name, parameters)

// names.h says for each kind of procedure what names it has:
//   CLUMP_FUNCTION(result, name, parameters)  a function, of mpif.h and of mpi_f08
//   CLUMP_ENTRY(name, parameters)             a subroutine of mpif.h and `use mpi`
//   CLUMP_F08, CLUMP_F08TS                    of mpi_f08, without and with descriptors
//   CLUMP_F08_LARGE, CLUMP_F08TS_LARGE        the same, with large counts; the name is without _c
//   CLUMP_BOTH                                CLUMP_ENTRY and CLUMP_F08
//   CLUMP_PREDEFINED(name, parameters)        MPI_COMM_DUP_FN and its kin, which have no name of PMPI's
#include "names.h"

namespace clump::fortran {

/// The Fortran types of arguments, all of which are passed by address.
using Integer = MPI_Fint;
using Logical = MPI_Fint;  ///< the default LOGICAL of gfortran and flang: 4 bytes, .FALSE. is 0, .TRUE. is 1
using Length = unsigned long;  ///< the hidden argument behind the others for each CHARACTER

/// Gives a function's result to `ierror`, which may be absent in a call by `use mpi_f08`.
inline void finish(Integer* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

}  // namespace clump::fortran
