// Handles as a program has them that was compiled for Open MPI's ABI, and what they are in the standard's
// ABI.
//
// All of Open MPI's handles are pointers. A predefined one is the address of an object that libmpi.so.40
// defines. ld.so copies most of these objects into the program, so their addresses differ from rank to rank;
// their contents do not: the first word of each is the handle in the standard's ABI. A handle that is made at
// run time is, in Clump, an integer between 4096 and 2^31 (docs/decisions/004): the program gets the same
// integer with the top bit set, which no address of a process has.
#pragma once

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

}  // namespace detail

/// The handle for the standard's functions. Null becomes null, and an object that is none of a handle's
/// becomes one that every function refuses.
template <typename Handle>
inline StandardOf<Handle> standard(Handle handle) {
  std::uintptr_t value = reinterpret_cast<std::uintptr_t>(handle);
  if (static_cast<std::intptr_t>(value) < 0) {
    value &= ~detail::kMade;
  } else if (value != 0) {
    value = *reinterpret_cast<const std::uintptr_t*>(value);
    if (value >= detail::kPredefined) value |= std::uintptr_t{1} << 32;
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
