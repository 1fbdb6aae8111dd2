// Numbers whose meaning differs between MPICH's ABI and the standard's: ranks and tags that are none,
// enumerations, masks, error codes, addresses with a meaning of their own.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "mpi.h"

namespace clump::mpich {

/// One constant: its value in the standard's ABI, and in MPICH's.
struct Pair {
  int standard;
  int program;
};
/// All constants of an enumeration.
struct Table {
  const Pair* pairs;
  std::size_t count;
};

#include "numbers.inc"

/// The number for the standard's functions. A number of no constant stays as it is, unless it would become
/// one: then it is one that functions refuse.
int standard(const Table& table, int value);
/// The number for the program.
int program(const Table& table, int value);
/// The same for masks; bits without a meaning are left out.
int standard_bits(const Table& table, int value);
int program_bits(const Table& table, int value);

inline int standard_rank(int rank) { return rank >= 0 ? rank : standard(kRank, rank); }
inline int program_rank(int rank) { return rank >= 0 ? rank : program(kRank, rank); }
inline int standard_tag(int tag) { return tag >= 0 ? tag : standard(kTag, tag); }
inline int program_tag(int tag) { return tag >= 0 ? tag : program(kTag, tag); }

/// Error codes. Their low bits are the class, up to the standard's MPI_ERR_LASTCODE; those above know the
/// message. Codes that the program has added are above MPICH's MPI_ERR_LASTCODE and the same in both.
int standard_code_of_failure(int code);
int program_code_of_failure(int code);
inline int standard_code(int code) { return code == MPI_SUCCESS ? code : standard_code_of_failure(code); }
inline int program_code(int code) { return code == MPI_SUCCESS ? code : program_code_of_failure(code); }

/// MPI_IN_PLACE and MPI_BUFFER_AUTOMATIC are the last addresses there are; MPI_BOTTOM is null in both.
inline const void* standard_buffer(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (value < static_cast<std::uintptr_t>(-2)) [[likely]]
    return address;
  return value == static_cast<std::uintptr_t>(-1) ? MPI_IN_PLACE : MPI_BUFFER_AUTOMATIC;
}
inline void* standard_buffer(void* address) {
  return const_cast<void*>(standard_buffer(static_cast<const void*>(address)));
}

/// Of MPI_File_set_view.
constexpr MPI_Offset kDisplacementCurrent = -54278278;
inline MPI_Offset standard_offset(MPI_Offset offset) {
  return offset == kDisplacementCurrent ? MPI_DISPLACEMENT_CURRENT : offset;
}

}  // namespace clump::mpich
