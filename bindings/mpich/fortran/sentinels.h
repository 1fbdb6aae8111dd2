// Arguments that have a meaning by their address (MPI-5.0 section 2.5.4), as MPICH's mpif.h and modules have
// them: elements of the common blocks MPIPRIV1, MPIPRIV2, MPIPRIVC, MPIFCMB5, MPIFCMB9 and MPIFCMBA, and
// variables of mpi_f08. ld.so gives all uses of a symbol one address, which may be in the program.
#pragma once

#include "entry.h"
#include "sentinel_table.h"

extern "C" {
struct CommonOfMpich1 {
  int bottom;
  int in_place;
  int status_ignore[5];
};
struct CommonOfMpich2 {
  int statuses_ignore[5];
  int errcodes_ignore;
};
struct CommonOfMpichC {
  char argvs_null;
  char argv_null;
};
extern CLUMP_PUBLIC CommonOfMpich1 mpipriv1_;
extern CLUMP_PUBLIC CommonOfMpich2 mpipriv2_;
extern CLUMP_PUBLIC CommonOfMpichC mpiprivc_;
extern CLUMP_PUBLIC int mpifcmb5_;  // MPI_UNWEIGHTED
extern CLUMP_PUBLIC int mpifcmb9_;  // MPI_WEIGHTS_EMPTY
extern CLUMP_PUBLIC int mpifcmba_;  // MPI_BUFFER_AUTOMATIC
extern CLUMP_PUBLIC int MPIR_F08_MPI_BOTTOM;
extern CLUMP_PUBLIC int MPIR_F08_MPI_IN_PLACE;
extern CLUMP_PUBLIC int MPIR_F08_MPI_STATUS_IGNORE_OBJ[5];
extern CLUMP_PUBLIC int MPIR_F08_MPI_STATUSES_IGNORE_OBJ[5];
extern CLUMP_PUBLIC int __mpi_f08_link_constants_MOD_mpi_errcodes_ignore;
extern CLUMP_PUBLIC int __mpi_f08_link_constants_MOD_mpi_unweighted;
extern CLUMP_PUBLIC int __mpi_f08_link_constants_MOD_mpi_weights_empty;
extern CLUMP_PUBLIC char __mpi_f08_link_constants_MOD_mpi_argv_null;
extern CLUMP_PUBLIC char __mpi_f08_link_constants_MOD_mpi_argvs_null;
}

namespace clump::fortran {

constexpr int kStatusSize = 5;

inline void* c_buffer(void* address) {
  address = own_sentinel(address);
  if (address == &mpipriv1_.bottom || address == &MPIR_F08_MPI_BOTTOM) return MPI_BOTTOM;
  if (address == &mpipriv1_.in_place || address == &MPIR_F08_MPI_IN_PLACE) return MPI_IN_PLACE;
  if (address == &mpifcmba_) return MPI_BUFFER_AUTOMATIC;
  return address;
}

/// What C gives back of what c_buffer() gave it.
inline void* fortran_buffer(void* address) { return address == MPI_BUFFER_AUTOMATIC ? &mpifcmba_ : address; }

inline MPI_Status* c_status(Integer* address) {
  address = own_sentinel(address);
  if (address == mpipriv1_.status_ignore || address == mpipriv2_.statuses_ignore ||
      address == MPIR_F08_MPI_STATUS_IGNORE_OBJ || address == MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
    return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(address);  // five INTEGERs, as in C
}

inline int* c_error_codes(Integer* address) {
  address = own_sentinel(address);
  const bool is_ignored =
      address == &mpipriv2_.errcodes_ignore || address == &__mpi_f08_link_constants_MOD_mpi_errcodes_ignore;
  return is_ignored ? MPI_ERRCODES_IGNORE : address;
}

inline int* c_weights(Integer* address) {
  address = own_sentinel(address);
  if (address == &mpifcmb5_ || address == &__mpi_f08_link_constants_MOD_mpi_unweighted) return MPI_UNWEIGHTED;
  if (address == &mpifcmb9_ || address == &__mpi_f08_link_constants_MOD_mpi_weights_empty)
    return MPI_WEIGHTS_EMPTY;
  return address;
}

/// MPI_ARGV_NULL or MPI_ARGVS_NULL.
inline bool has_no_arguments(const char* list) {
  list = own_sentinel(list);
  return list == &mpiprivc_.argv_null || list == &mpiprivc_.argvs_null ||
         list == &__mpi_f08_link_constants_MOD_mpi_argv_null ||
         list == &__mpi_f08_link_constants_MOD_mpi_argvs_null;
}

}  // namespace clump::fortran
