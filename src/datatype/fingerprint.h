// What tells whether somebody has written into a buffer (mpiexec --check).
#pragma once

#include <cstddef>
#include <cstdint>

#include "datatype/datatype.h"

namespace clump::datatype {

/// So many bytes of a layout are looked at, at most: of a longer one, pieces at its ends and between them.
inline constexpr Count kMostLookedAt = Count{4} << 20;

/// A hash of the packed bytes. Two that differ were of different bytes; equal ones were, but for a collision
/// of 64-bit hashes, of equal bytes where these were looked at.
std::uint64_t fingerprint(const Layout& layout);

/// The first packed byte in which `layout` differs from `packed`, which holds all of them; -1 if there is
/// none.
Count first_difference(const Layout& layout, const std::byte* packed);

}  // namespace clump::datatype
