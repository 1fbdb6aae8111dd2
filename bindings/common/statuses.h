// What converting a status has in common for all families: the fields that the standard names, and where
// Clump keeps the others.
#pragma once

#include "numbers.h"

namespace clump::facade {

/// A number that the standard's function has not written, such as the MPI_ERROR of a single status.
constexpr int kUntouched = INT_MIN + 12345;

/// Where Clump has the size of the message and whether it was cancelled (src/core/request.cc).
constexpr int kBytes = 0;
constexpr int kCancelled = 2;

inline std::uint64_t bytes_of(const MPI_Status& status) {
  return static_cast<std::uint32_t>(status.MPI_internal[kBytes]) |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.MPI_internal[kBytes + 1])) << 32;
}
inline bool was_cancelled(const MPI_Status& status) { return status.MPI_internal[kCancelled] != 0; }

/// Writes all of `to`: the fields that the standard names from the program's status, the others from
/// `bytes` and `is_cancelled`.
template <typename Program>
inline void fill_standard(const Program& from, std::uint64_t bytes, bool is_cancelled, MPI_Status& to) {
  to.MPI_internal[kBytes] = static_cast<int>(bytes);
  to.MPI_internal[kBytes + 1] = static_cast<int>(bytes >> 32);
  to.MPI_internal[kCancelled] = is_cancelled ? 1 : 0;
  to.MPI_internal[3] = to.MPI_internal[4] = 0;
  to.MPI_SOURCE = standard_rank(from.MPI_SOURCE);
  to.MPI_TAG = standard_tag(from.MPI_TAG);
  to.MPI_ERROR = standard_code(from.MPI_ERROR);
}

/// Writes the fields of the program's status that the standard names. MPI_ERROR stays as it is if the
/// standard's function has not written it.
template <typename Program>
inline void fill_program(const MPI_Status& from, Program& to) {
  to.MPI_SOURCE = program_rank(from.MPI_SOURCE);
  to.MPI_TAG = program_tag(from.MPI_TAG);
  if (from.MPI_ERROR != kUntouched) to.MPI_ERROR = program_code(from.MPI_ERROR);
}

}  // namespace clump::facade
