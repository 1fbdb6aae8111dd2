// What the descriptions of collective calls for --check have in common (check/checked.cc,
// check/checked_topologies.cc).
#pragma once

#include <vector>

#include "mpi/check/checked.h"
#include "mpi/collective_buffers.h"

namespace clump::mpi::checked {

inline bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

inline coll::Check::Call call(const Called& called) {
  // Checking has found the program's own call, where a binding has called in its place.
  const core::Site* const site = core::Site::current;
  return {.name = called.name, .address = site != nullptr ? site->address : called.site};
}

/// Where data lie. What is combined or sent in place lies nowhere but where the result goes.
inline datatype::Layout at(const void* buffer, Count count, const datatype::Datatype& type) {
  return {const_cast<void*>(buffer), in_place(buffer) ? 0 : count, &type};
}

inline std::vector<datatype::Layout> all_of(const coll::Blocks& blocks, int count) {
  std::vector<datatype::Layout> found;
  for (int i = 0; i < count; ++i) found.push_back(blocks[i]);
  return found;
}

inline coll::Check::Call::Array array(const char* name, const Counts& counts, int elements) {
  return {name, counts.data(), static_cast<std::size_t>(elements),
          counts.wide() ? sizeof(Count) : sizeof(int)};
}

inline coll::Check::Call::Array array(const char* name, const MPI_Datatype types[], int elements) {
  return {name, types, static_cast<std::size_t>(elements), sizeof types[0]};
}

/// Looks at what this rank alone sees, and has the ranks compare what they call; if the call does not block,
/// this comes later.
base::Status check(core::Comm& comm, const Called& called, coll::Check::Call call);

}  // namespace clump::mpi::checked
