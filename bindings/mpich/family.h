// What of the facade is MPICH's alone: statuses, addresses with a meaning of their own, datatypes that MPI-3
// took away.
#pragma once

#include "handles.h"
#include "operations.h"
#include "statuses.h"

namespace clump::facade {

constexpr const char* kFamily = "MPICH";
/// Codes have more bits than the class.
constexpr bool kCodesAreClasses = false;
/// What the family's library says of itself, before Clump's own words: programs tell libraries apart by it.
/// MPICH 5.0 is the first with the standard's version that MPI_Get_version gives.
constexpr const char* kVersion = "MPICH Version:\t5.0.0\n";
constexpr const char* kLibrary = "libmpi.so.12 (Clump's, for programs that are made for MPICH)";

/// A status as the program has it. The top bits of the size are those of count_hi_and_cancelled without the
/// lowest, which says whether the message was cancelled.
struct Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
};
static_assert(sizeof(Status) == 20);

inline void to_standard(const Status& from, MPI_Status& to) {
  const auto high = static_cast<std::uint32_t>(from.count_hi_and_cancelled);
  const auto low = static_cast<std::uint32_t>(from.count_lo);
  fill_standard(from, static_cast<std::uint64_t>(high >> 1) << 32 | low, (high & 1) != 0, to);
}

inline void to_program(const MPI_Status& from, Status& to) {
  const std::uint64_t bytes = bytes_of(from);
  to.count_lo = static_cast<int>(bytes);
  to.count_hi_and_cancelled =
      static_cast<int>(static_cast<std::uint32_t>(bytes >> 32) << 1 | (was_cancelled(from) ? 1U : 0U));
  fill_program(from, to);
}

/// MPI_STATUS_IGNORE is 1.
inline bool is_place(const Status* status) { return reinterpret_cast<std::uintptr_t>(status) > 1; }

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
inline void* program_buffer(void* address) {
  return address == MPI_BUFFER_AUTOMATIC ? reinterpret_cast<void*>(static_cast<std::intptr_t>(-2)) : address;
}

/// MPI_LB and MPI_UB, which set where a structure begins and ends.
constexpr Datatype lower_bound() { return static_cast<Datatype>(0x4c000010); }
constexpr Datatype upper_bound() { return static_cast<Datatype>(0x4c000011); }

}  // namespace clump::facade
