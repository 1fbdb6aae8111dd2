// What only Fortran has, as MPICH's modules have it.
#include "arguments.h"

using namespace clump::fortran;  // NOLINT: nobody includes this file

CLUMP_F08TS(f_sync_reg, (const void*)) {}
CLUMP_ENTRY(f_sync_reg, (void*)) {}

#ifndef CLUMP_FORTRAN_PROFILING
namespace {

void copy(const Integer* from, Integer* to, Integer* ierror) {
  for (int i = 0; i < kStatusSize; ++i) to[i] = from[i];
  finish(ierror, MPI_SUCCESS);
}

}  // namespace

extern "C" {
CLUMP_PUBLIC void __mpi_f08_types_MOD_mpi_status_f2f08(const Integer* from, Integer* to, Integer* ierror) {
  copy(from, to, ierror);
}
CLUMP_PUBLIC void __mpi_f08_types_MOD_mpi_status_f082f(const Integer* from, Integer* to, Integer* ierror) {
  copy(from, to, ierror);
}
}
#endif
