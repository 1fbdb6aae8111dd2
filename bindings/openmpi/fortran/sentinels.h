// Arguments that have a meaning by their address (MPI-5.0 section 2.5.4), as Open MPI's mpif.h and modules
// have them: the same common blocks everywhere. ld.so gives all uses of a symbol one address, which may be in
// the program.
#pragma once

#include "entry.h"
#include "sentinel_table.h"

extern "C" {
extern CLUMP_PUBLIC int mpi_fortran_bottom_;
extern CLUMP_PUBLIC int mpi_fortran_in_place_;
extern CLUMP_PUBLIC int mpi_fortran_status_ignore_[6];
extern CLUMP_PUBLIC int mpi_fortran_statuses_ignore_[6];
extern CLUMP_PUBLIC int mpi_fortran_errcodes_ignore_;
extern CLUMP_PUBLIC int mpi_fortran_unweighted_;
extern CLUMP_PUBLIC int mpi_fortran_weights_empty_;
extern CLUMP_PUBLIC char mpi_fortran_argv_null_;
extern CLUMP_PUBLIC char mpi_fortran_argvs_null_;
}

namespace clump::fortran {

constexpr int kStatusSize = 6;

inline void* c_buffer(void* address) {
  address = own_sentinel(address);
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return address;
}

/// What C gives back of what c_buffer() gave it.
inline void* fortran_buffer(void* address) { return address; }

inline MPI_Status* c_status(Integer* address) {
  address = own_sentinel(address);
  if (address == mpi_fortran_status_ignore_ || address == mpi_fortran_statuses_ignore_)
    return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(address);  // six INTEGERs: in C four ints and a size_t
}

inline int* c_error_codes(Integer* address) {
  address = own_sentinel(address);
  return address == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : address;
}

inline int* c_weights(Integer* address) {
  address = own_sentinel(address);
  if (address == &mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (address == &mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return address;
}

/// MPI_ARGV_NULL or MPI_ARGVS_NULL.
inline bool has_no_arguments(const char* list) {
  list = own_sentinel(list);
  return list == &mpi_fortran_argv_null_ || list == &mpi_fortran_argvs_null_;
}

}  // namespace clump::fortran
