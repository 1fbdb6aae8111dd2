// The portable representation "external32" (MPI-5.0 section 14.5.2): big-endian, without gaps, with sizes of
// its own for a few types (4 bytes for MPI_LONG and MPI_UNSIGNED_LONG, 2 for MPI_WCHAR; values that need more
// lose their high bits). Any thread; not fast.
#pragma once

#include "datatype/datatype.h"

namespace clump::datatype {

/// The size of `count` elements in this representation.
Count external32_bytes(const Datatype& type, Count count);
/// Writes external32_bytes() bytes.
void pack_external32(std::byte* out, const Layout& from);
/// Reads as many.
void unpack_external32(const Layout& to, const std::byte* in);
/// Reads `bytes` bytes, up to the last basic element that is complete. The result is the number of packed
/// bytes of `to` that were written.
Count unpack_external32(const Layout& to, const std::byte* in, Count bytes);

}  // namespace clump::datatype
