// Handles and keys as INTEGERs, over Open MPI's C library, which knows the numbers of its handles.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace clump::fortran {

template <typename Handle>
Handle handle(MPI_Fint number);

#define CLUMP_NUMBERS(name, type)       \
  template <>                           \
  inline type handle(MPI_Fint number) { \
    return PMPI_##name##_f2c(number);   \
  }                                     \
  inline MPI_Fint integer(type handle) { return PMPI_##name##_c2f(handle); }
CLUMP_NUMBERS(Comm, MPI_Comm)
CLUMP_NUMBERS(Errhandler, MPI_Errhandler)
CLUMP_NUMBERS(File, MPI_File)
CLUMP_NUMBERS(Group, MPI_Group)
CLUMP_NUMBERS(Info, MPI_Info)
CLUMP_NUMBERS(Message, MPI_Message)
CLUMP_NUMBERS(Op, MPI_Op)
CLUMP_NUMBERS(Request, MPI_Request)
CLUMP_NUMBERS(Session, MPI_Session)
CLUMP_NUMBERS(Type, MPI_Datatype)
CLUMP_NUMBERS(Win, MPI_Win)
#undef CLUMP_NUMBERS

/// What no function makes.
template <typename Handle>
Handle nothing() {
  return reinterpret_cast<Handle>(~std::uintptr_t{0});
}

/// The key of a predefined attribute, or of one of the program's, in C.
inline int c_keyval(MPI_Fint keyval) { return keyval; }

}  // namespace clump::fortran
