// Numbers whose meaning differs between the program's ABI and the standard's: ranks and tags that are none,
// enumerations, masks, error codes. numbers.inc has the family's tables.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

#include "mpi.h"

namespace clump::facade {

/// One constant: its value in the standard's ABI, and in the program's.
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

/// Error classes. Those that the program has added are from 2^30 on and the same in both, as are such codes.
int standard_class(int error_class);
int program_class(int error_class);
/// Error codes. The low bits of the standard's are the class, up to its MPI_ERR_LASTCODE; those above know
/// the message. So are the program's, unless kCodesAreClasses: then it gets the class, and the class stands
/// for the code that the rank has got last of it.
int standard_code_of_failure(int code);
int program_code_of_failure(int code);
inline int standard_code(int code) { return code == MPI_SUCCESS ? code : standard_code_of_failure(code); }
inline int program_code(int code) { return code == MPI_SUCCESS ? code : program_code_of_failure(code); }

/// Of MPI_File_set_view, in MPICH and in Open MPI.
constexpr MPI_Offset kDisplacementCurrent = -54278278;
inline MPI_Offset standard_offset(MPI_Offset offset) {
  return offset == kDisplacementCurrent ? MPI_DISPLACEMENT_CURRENT : offset;
}

}  // namespace clump::facade
