// Handles as a program has them that was compiled for Open MPI's ABI, and what they are in the standard's
// ABI.
//
// All of Open MPI's handles are pointers. A predefined one is the address of an object that libmpi.so.40
// defines. ld.so copies most of these objects into the program, so their addresses differ from rank to rank;
// their contents do not: the first word of each is the handle in the standard's ABI. A handle that is made at
// run time is, in Clump, an integer between 4096 and 2^31 (docs/decisions/004): the program gets the same
// integer with the top bit set, which no address of a process has.
//
// A handle that means nothing at a rank (MPI_Gather's recvtype at a rank that is not the root) may be
// anything, so no address is followed but those of the objects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"

namespace clump::facade {

struct CommOfProgram;
struct GroupOfProgram;
struct WinOfProgram;
struct SessionOfProgram;
struct MessageOfProgram;
struct InfoOfProgram;
struct ErrhandlerOfProgram;
struct RequestOfProgram;
struct OpOfProgram;
struct DatatypeOfProgram;
struct FileOfProgram;
using Comm = CommOfProgram*;
using Group = GroupOfProgram*;
using Win = WinOfProgram*;
using Session = SessionOfProgram*;
using Message = MessageOfProgram*;
using Info = InfoOfProgram*;
using Errhandler = ErrhandlerOfProgram*;
using Request = RequestOfProgram*;
using Op = OpOfProgram*;
using Datatype = DatatypeOfProgram*;
using File = FileOfProgram*;

/// `Standard`: the type in the standard's ABI.
template <typename Handle>
struct Facts;
template <>
struct Facts<Comm> {
  using Standard = MPI_Comm;
};
template <>
struct Facts<Group> {
  using Standard = MPI_Group;
};
template <>
struct Facts<Win> {
  using Standard = MPI_Win;
};
template <>
struct Facts<Session> {
  using Standard = MPI_Session;
};
template <>
struct Facts<Message> {
  using Standard = MPI_Message;
};
template <>
struct Facts<Info> {
  using Standard = MPI_Info;
};
template <>
struct Facts<Errhandler> {
  using Standard = MPI_Errhandler;
};
template <>
struct Facts<Request> {
  using Standard = MPI_Request;
};
template <>
struct Facts<Op> {
  using Standard = MPI_Op;
};
template <>
struct Facts<Datatype> {
  using Standard = MPI_Datatype;
};
template <>
struct Facts<File> {
  using Standard = MPI_File;
};
template <typename Handle>
using StandardOf = typename Facts<Handle>::Standard;

namespace detail {

constexpr std::uintptr_t kMade = std::uintptr_t{1} << 63;
constexpr std::uintptr_t kFirstMade = 4096;
constexpr std::uintptr_t kPredefined = 1024;  // values of the standard's predefined handles are smaller

/// From the standard's value to the address of the object, as the program sees it (objects.c, which is
/// generated). Values of all kinds differ.
extern "C" __attribute__((visibility("hidden"))) void* const clump_openmpi_objects[kPredefined];

/// The addresses of all objects, by a hash of them; null: none. Filled when the rank's copy of this library
/// is loaded, and not changed again (known_objects.cc): any thread of the rank may read it.
constexpr int kBitsOfPlace = 9;  // several times as many places as there are objects
constexpr std::size_t kPlaces = std::size_t{1} << kBitsOfPlace;
extern const void* known_objects[kPlaces] __attribute__((visibility("hidden")));

/// The place where the search for an address begins. What is left of the product's top bits depends on all
/// bits.
inline std::size_t place_of(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u >> (64 - kBitsOfPlace);
}

/// Whether it is the address of an object, by comparing it with all. For addresses that are not in the table:
/// those of no object, and all before this library's constructors have run.
[[gnu::cold]] bool is_object_at_all(const void* address) __attribute__((visibility("hidden")));

inline bool is_object(const void* address) {
  for (std::size_t at = place_of(address);; at = (at + 1) % kPlaces) {
    if (known_objects[at] == address) [[likely]]
      return true;
    if (known_objects[at] == nullptr) return is_object_at_all(address);
  }
}

/// The value of an address that is none of an object: no handle of any type has it.
constexpr std::uintptr_t kNoObject = kPredefined - 1;

}  // namespace detail

/// The handle for the standard's functions. Null becomes null, and an address that is none of a handle's
/// object becomes one that every function refuses. Any value may be handed in: it is not followed unless it
/// is the address of an object.
template <typename Handle>
inline StandardOf<Handle> standard(Handle handle) {
  std::uintptr_t value = reinterpret_cast<std::uintptr_t>(handle);
  if (static_cast<std::intptr_t>(value) < 0) {
    value &= ~detail::kMade;
  } else if (value != 0) {
    const auto* const address = reinterpret_cast<const std::uintptr_t*>(value);
    value = detail::is_object(address) ? *address : detail::kNoObject;
  }
  return reinterpret_cast<StandardOf<Handle>>(value);
}

/// The program's handle for one of the standard's.
template <typename Handle>
inline Handle program(StandardOf<Handle> handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value >= detail::kFirstMade) return reinterpret_cast<Handle>(value | detail::kMade);
  return static_cast<Handle>(detail::clump_openmpi_objects[value % detail::kPredefined]);
}

}  // namespace clump::facade
