// The buffers of collective operations, as src/coll takes them.
#pragma once

#include <vector>

#include "coll/coll.h"
#include "core/rank.h"
#include "mpi/entry/counts.h"
#include "mpi/layout.h"

namespace clump::mpi {

inline coll::Numbers numbers(const Counts& counts) {
  return counts.wide() ? coll::Numbers(static_cast<const Count*>(counts.data()))
                       : coll::Numbers(static_cast<const int*>(counts.data()));
}

/// Displacements are null only where all counts are zero: these then stand for them.
inline coll::Numbers displacements_or(const Counts& displacements, const Counts& counts) {
  return numbers(displacements ? displacements : counts);
}

inline coll::Blocks blocks(const void* buffer, const Counts& counts, const Counts& displacements,
                           const datatype::Datatype& type) {
  return {const_cast<void*>(buffer), numbers(counts), displacements_or(displacements, counts), &type};
}

/// The same where each block has a type of its own.
inline coll::Blocks typed_blocks(const void* buffer, const Counts& counts, const Counts& displacements,
                                 const datatype::Datatype* const* types) {
  return {const_cast<void*>(buffer), numbers(counts), displacements_or(displacements, counts), types};
}

/// The types of an array of handles, which the entry point found to be valid.
inline std::vector<const datatype::Datatype*> resolve(const core::Rank& self, const MPI_Datatype handles[],
                                                      int count) {
  std::vector<const datatype::Datatype*> types(count);
  for (int i = 0; i < count; ++i) types[i] = self.datatype(handles[i]);
  return types;
}

}  // namespace clump::mpi
