// Whether buffers have bytes in common (mpiexec --check).
#pragma once

#include <cstdint>
#include <span>

#include "datatype/datatype.h"

namespace clump::datatype {

/// All bytes of a layout, and what lies between them. Addresses are integers, as with MPI_BOTTOM.
struct Reach {
  std::intptr_t begin = 0, end = 0;  ///< equal: there are none

  bool meets(const Reach& other) const { return begin < other.end && other.begin < end; }
};
Reach reach_of(const Layout& layout);

/// Of more blocks than this nothing is known: they are taken as if they did not overlap.
inline constexpr Count kMostBlocksLookedAt = Count{1} << 18;

/// Whether any byte is in both.
bool overlap(const Layout& a, const Layout& b);
/// Whether any byte is there twice, in one of them or in two.
bool overlap_themselves(std::span<const Layout> layouts);

}  // namespace clump::datatype
