// Handles and keys as INTEGERs, over MPICH's C library: handles are ints there, too, but for files.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace clump::fortran {

template <typename Handle>
Handle handle(MPI_Fint number) {
  return static_cast<Handle>(number);
}
template <>
inline MPI_File handle(MPI_Fint number) {
  return PMPI_File_f2c(number);
}

template <typename Handle>
MPI_Fint integer(Handle handle) {
  return static_cast<MPI_Fint>(handle);
}
inline MPI_Fint integer(MPI_File file) { return PMPI_File_c2f(file); }

/// A request as the MPI library beneath the facade has it (detail::kMade of handles.h).
inline std::intptr_t request_of_library(MPI_Fint number) { return number & 0x7fffffff; }

/// What no function makes. A handle of MPICH's has its kind in the bits above.
template <typename Handle>
Handle nothing() {
  return static_cast<Handle>(1);
}
template <>
inline MPI_File nothing() {
  return reinterpret_cast<MPI_File>(~std::uintptr_t{0});
}

/// The key of a predefined attribute, or of one of the program's, in C. The keys of predefined attributes are
/// 0x644000xx and, of windows, 0x660000xx: odd ones in C, for the address of the value, and the next one in
/// Fortran, for the value.
inline int c_keyval(MPI_Fint keyval) {
  const int kind = keyval >> 8;
  const bool is_predefined = kind == 0x644000 || kind == 0x660000;
  return is_predefined && keyval % 2 == 0 ? keyval - 1 : keyval;
}

}  // namespace clump::fortran
