// Handles as ints: those of Fortran, and of MPI_X_toint. MPICH's handles are ints themselves, but for files.
#pragma once

#include "abi_library.h"
#include "handles.h"

namespace clump::facade {

template <typename Handle>
inline int number_of(Handle handle) {
  return static_cast<int>(handle);
}
template <>
inline int number_of(File file) {
  return file == nullptr ? 0 : abi::File_toint()(standard(file));
}

template <typename Handle>
inline Handle handle_of(int number) {
  return static_cast<Handle>(number);
}
template <>
inline File handle_of<File>(int number) {
  return number == 0 ? nullptr : program<File>(abi::File_fromint()(number));
}

}  // namespace clump::facade
