// Handles as a program has them that was compiled for MPICH's ABI, and what they are in the standard's ABI.
//
// MPICH's handles are ints. A predefined one has a value that the header fixes (facts.txt); it is looked up.
// One that is made at run time is, in Clump, an integer between 4096 and 2^31 (docs/decisions/004): the
// program gets the same integer with the top bit set, which no predefined handle has beside a number of its
// own above 4095.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "mpi.h"

namespace clump::facade {

enum class Comm : int {};
enum class Group : int {};
enum class Win : int {};
enum class Session : int {};
enum class Message : int {};
enum class Info : int {};
enum class Errhandler : int {};
enum class Request : int {};
enum class Op : int {};
enum class Datatype : int {};
/// The only handle that is a pointer there as well. MPI_FILE_NULL is null.
struct FileOfProgram;
using File = FileOfProgram*;

/// A predefined handle: its value in the standard's ABI, and in MPICH's.
struct HandlePair {
  std::uint16_t abi;
  std::uint32_t mpich;
};

/// `Standard`, the type in the standard's ABI, and `pairs`, all predefined handles. handles.inc specialises
/// it.
template <typename Handle>
struct Facts;

#include "handles.inc"

template <typename Handle>
using StandardOf = typename Facts<Handle>::Standard;

namespace detail {

constexpr std::uint32_t kMade = 0x80000000u;
constexpr std::uint32_t kFirstMade =
    4096;  // and the first value that no predefined handle of MPICH has below its kind
constexpr std::size_t kPredefined = 1024;     // values of the standard's predefined handles are smaller
constexpr std::uint32_t kReal2 = 0x4c000226;  // MPI_REAL2 there

constexpr std::size_t place_of(std::uint32_t mpich) { return (mpich ^ (mpich >> 23) ^ (mpich >> 28)) & 0xff; }

/// From place_of() to the standard's value. Handles of one kind have different places.
template <typename Handle>
constexpr std::array<std::uint16_t, 256> standard_values() {
  std::array<std::uint16_t, 256> values{};
  for (const HandlePair& pair : Facts<Handle>::pairs) values[place_of(pair.mpich)] = pair.abi;
  return values;
}
template <typename Handle>
constexpr bool have_places() {
  constexpr std::array<std::uint16_t, 256> values = standard_values<Handle>();
  for (const HandlePair& pair : Facts<Handle>::pairs) {
    if (values[place_of(pair.mpich)] != pair.abi) return false;
  }
  return true;
}

template <typename... Handles>
constexpr std::array<std::uint32_t, kPredefined> mpich_values() {
  std::array<std::uint32_t, kPredefined> values{};
  const auto note = [&values](const auto& pairs) {
    for (const HandlePair& pair : pairs) values[pair.abi] = pair.mpich;
  };
  (note(Facts<Handles>::pairs), ...);
  return values;
}

template <typename Handle>
inline constexpr std::array<std::uint16_t, 256> kStandardValues = standard_values<Handle>();
/// From the standard's value to MPICH's, for all kinds: the standard's values differ between kinds, too.
inline constexpr std::array<std::uint32_t, kPredefined> kMpichValues =
    mpich_values<Comm, Group, Win, Session, Message, Info, Errhandler, Request, Op, Datatype>();

/// What has no pair. MPI_REAL2 and MPIX_C_FLOAT16 of MPICH are one datatype here, which a program gets back
/// as the latter: mpi4py takes datatypes apart and makes them of numpy's. All else becomes a handle that
/// every function refuses.
template <typename Handle>
inline std::intptr_t unpaired(std::uint32_t bits) {
  if constexpr (std::is_same_v<Handle, Datatype>) {
    if (bits == kReal2) return reinterpret_cast<std::intptr_t>(MPI_REAL2);
  }
  return bits == 0 ? 0 : std::intptr_t{1} << 32 | bits;
}

}  // namespace detail

/// The handle for the standard's functions.
template <typename Handle>
inline StandardOf<Handle> standard(Handle handle) {
  static_assert(detail::have_places<Handle>());
  const auto bits = static_cast<std::uint32_t>(handle);
  std::intptr_t value = 0;
  if (bits >= detail::kMade && (bits & 0xffffff) >= detail::kFirstMade) {
    value = bits & ~detail::kMade;
  } else {
    const std::uint16_t candidate = detail::kStandardValues<Handle>[detail::place_of(bits)];
    value = candidate != 0 && detail::kMpichValues[candidate] == bits ? candidate
                                                                      : detail::unpaired<Handle>(bits);
  }
  return reinterpret_cast<StandardOf<Handle>>(value);
}
inline MPI_File standard(File file) {
  return file == nullptr ? MPI_FILE_NULL : reinterpret_cast<MPI_File>(file);
}

/// The program's handle for one of the standard's.
template <typename Handle>
inline Handle program(StandardOf<Handle> handle) {
  const auto value = reinterpret_cast<std::intptr_t>(handle);
  if (value >= static_cast<std::intptr_t>(detail::kFirstMade))
    return static_cast<Handle>(static_cast<std::uint32_t>(value) | detail::kMade);
  return static_cast<Handle>(detail::kMpichValues[static_cast<std::size_t>(value) % detail::kPredefined]);
}
template <>
inline File program<File>(MPI_File file) {
  return file == MPI_FILE_NULL ? nullptr : reinterpret_cast<File>(file);
}

}  // namespace clump::facade
