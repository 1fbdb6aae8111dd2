// Handles and keys as INTEGERs, over a C library with the standard's ABI. Handles of predefined objects have
// the values of the ABI's constants, which are below kPredefined (MPI-5.0 section 20.3); others are asked for
// by MPI_X_toint and MPI_X_fromint.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace clump::fortran {

constexpr std::uintptr_t kPredefined = 4096;

inline MPI_Fint to_integer(MPI_Comm handle) { return PMPI_Comm_toint(handle); }
inline MPI_Fint to_integer(MPI_Group handle) { return PMPI_Group_toint(handle); }
inline MPI_Fint to_integer(MPI_Datatype handle) { return PMPI_Type_toint(handle); }
inline MPI_Fint to_integer(MPI_Request handle) { return PMPI_Request_toint(handle); }
inline MPI_Fint to_integer(MPI_Op handle) { return PMPI_Op_toint(handle); }
inline MPI_Fint to_integer(MPI_Win handle) { return PMPI_Win_toint(handle); }
inline MPI_Fint to_integer(MPI_File handle) { return PMPI_File_toint(handle); }
inline MPI_Fint to_integer(MPI_Info handle) { return PMPI_Info_toint(handle); }
inline MPI_Fint to_integer(MPI_Message handle) { return PMPI_Message_toint(handle); }
inline MPI_Fint to_integer(MPI_Session handle) { return PMPI_Session_toint(handle); }
inline MPI_Fint to_integer(MPI_Errhandler handle) { return PMPI_Errhandler_toint(handle); }

template <typename Handle>
Handle from_integer(MPI_Fint number);
template <>
inline MPI_Comm from_integer(MPI_Fint number) {
  return PMPI_Comm_fromint(number);
}
template <>
inline MPI_Group from_integer(MPI_Fint number) {
  return PMPI_Group_fromint(number);
}
template <>
inline MPI_Datatype from_integer(MPI_Fint number) {
  return PMPI_Type_fromint(number);
}
template <>
inline MPI_Request from_integer(MPI_Fint number) {
  return PMPI_Request_fromint(number);
}
template <>
inline MPI_Op from_integer(MPI_Fint number) {
  return PMPI_Op_fromint(number);
}
template <>
inline MPI_Win from_integer(MPI_Fint number) {
  return PMPI_Win_fromint(number);
}
template <>
inline MPI_File from_integer(MPI_Fint number) {
  return PMPI_File_fromint(number);
}
template <>
inline MPI_Info from_integer(MPI_Fint number) {
  return PMPI_Info_fromint(number);
}
template <>
inline MPI_Message from_integer(MPI_Fint number) {
  return PMPI_Message_fromint(number);
}
template <>
inline MPI_Session from_integer(MPI_Fint number) {
  return PMPI_Session_fromint(number);
}
template <>
inline MPI_Errhandler from_integer(MPI_Fint number) {
  return PMPI_Errhandler_fromint(number);
}

template <typename Handle>
Handle handle(MPI_Fint number) {
  if (static_cast<std::uint32_t>(number) < kPredefined)
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  return from_integer<Handle>(number);
}

template <typename Handle>
MPI_Fint integer(Handle handle) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  return bits < kPredefined ? static_cast<MPI_Fint>(bits) : to_integer(handle);
}

/// A request as the MPI library has it.
inline std::intptr_t request_of_library(MPI_Fint number) {
  return reinterpret_cast<std::intptr_t>(handle<MPI_Request>(number));
}

/// What no function makes.
template <typename Handle>
Handle nothing() {
  return reinterpret_cast<Handle>(~std::uintptr_t{0});
}

/// The key of a predefined attribute, or of one of the program's, in C.
inline int c_keyval(MPI_Fint keyval) { return keyval; }

}  // namespace clump::fortran
