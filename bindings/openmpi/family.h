// What of the facade is Open MPI's alone: statuses, addresses with a meaning of their own, datatypes that
// MPI-3 took away.
#pragma once

#include "handles.h"
#include "statuses.h"

extern "C" {
extern long ompi_mpi_lb[64] __attribute__((visibility("default")));
extern long ompi_mpi_ub[64] __attribute__((visibility("default")));
}

namespace clump::facade {

/// MPICH's alone may have a state of the program's.
inline void operation_ends(Op) {}

constexpr const char* kFamily = "Open MPI";
/// Programs compare what functions return with MPI_ERR_...
constexpr bool kCodesAreClasses = true;
/// What the family's library says of itself, before Clump's own words: programs tell libraries apart by it.
/// Open MPI 4 is the last that has all that the facade has.
constexpr const char* kVersion = "Open MPI v4.1.8, package: ";
constexpr const char* kLibrary = "libmpi.so.40 (Clump's, for programs that are made for Open MPI)";

/// A status as the program has it.
struct Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int cancelled;
  std::size_t bytes;
};
static_assert(sizeof(Status) == 24);

inline void to_standard(const Status& from, MPI_Status& to) {
  fill_standard(from, from.bytes, from.cancelled != 0, to);
}

inline void to_program(const MPI_Status& from, Status& to) {
  to.bytes = bytes_of(from);
  to.cancelled = was_cancelled(from) ? 1 : 0;
  fill_program(from, to);
}

/// MPI_STATUS_IGNORE is null in both.
inline bool is_place(const Status* status) { return status != nullptr; }

/// MPI_BOTTOM and MPI_IN_PLACE are the same in both, and Open MPI has no MPI_BUFFER_AUTOMATIC.
inline const void* standard_buffer(const void* address) { return address; }
inline void* standard_buffer(void* address) { return address; }
inline void* program_buffer(void* address) { return address; }

/// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY.
inline const int* standard_weights(const int* weights) {
  const auto value = reinterpret_cast<std::uintptr_t>(weights);
  return value == 2 ? MPI_UNWEIGHTED : value == 3 ? MPI_WEIGHTS_EMPTY : weights;
}
inline int* standard_weights(int* weights) {
  return const_cast<int*>(standard_weights(static_cast<const int*>(weights)));
}

/// MPI_T_PVAR_ALL_HANDLES.
inline MPI_T_pvar_handle standard_variable(MPI_T_pvar_handle handle) {
  return reinterpret_cast<std::intptr_t>(handle) == -1 ? MPI_T_PVAR_ALL_HANDLES : handle;
}

/// MPI_LB and MPI_UB, which set where a structure begins and ends.
inline Datatype lower_bound() { return reinterpret_cast<Datatype>(&ompi_mpi_lb); }
inline Datatype upper_bound() { return reinterpret_cast<Datatype>(&ompi_mpi_ub); }

}  // namespace clump::facade
