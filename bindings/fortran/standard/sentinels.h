// Arguments that have a meaning by their address (MPI-5.0 section 2.5.4). The variables are common blocks of
// a program that includes mpif.h, and variables of the modules, so ld.so gives all of them one address, which
// may be in the program. A rank that is a fiber has its own copy of the program and of this library, and its
// own addresses.
#pragma once

#include "entry.h"
#include "sentinel_table.h"

extern "C" {
extern CLUMP_PUBLIC int mpi_fortran_bottom_;
extern CLUMP_PUBLIC int mpi_fortran_in_place_;
extern CLUMP_PUBLIC int mpi_fortran_buffer_automatic_;
extern CLUMP_PUBLIC int mpi_fortran_status_ignore_[8];
extern CLUMP_PUBLIC int mpi_fortran_statuses_ignore_[8];
extern CLUMP_PUBLIC int mpi_fortran_status_ignore_f08_[8];
extern CLUMP_PUBLIC int mpi_fortran_statuses_ignore_f08_[8];
extern CLUMP_PUBLIC int mpi_fortran_errcodes_ignore_;
extern CLUMP_PUBLIC int mpi_fortran_unweighted_;
extern CLUMP_PUBLIC int mpi_fortran_weights_empty_;
extern CLUMP_PUBLIC char mpi_fortran_argv_null_[1];
extern CLUMP_PUBLIC char mpi_fortran_argvs_null_[1];
}

namespace clump::fortran {

constexpr int kStatusSize = MPI_F_STATUS_SIZE;

inline void* c_buffer(void* address) {
  address = own_sentinel(address);
  if (address == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (address == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (address == &mpi_fortran_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
  return address;
}

/// What C gives back of what c_buffer() gave it.
inline void* fortran_buffer(void* address) {
  return address == MPI_BUFFER_AUTOMATIC ? &mpi_fortran_buffer_automatic_ : address;
}

inline MPI_Status* c_status(Integer* address) {
  address = own_sentinel(address);
  if (address == mpi_fortran_status_ignore_ || address == mpi_fortran_statuses_ignore_ ||
      address == mpi_fortran_status_ignore_f08_ || address == mpi_fortran_statuses_ignore_f08_)
    return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(address);  // eight INTEGERs, as in C
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
  return list == mpi_fortran_argv_null_ || list == mpi_fortran_argvs_null_;
}

}  // namespace clump::fortran
