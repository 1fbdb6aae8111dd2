// Nests: layouts that are loops around one list of blocks, which is what vectors, boxes of arrays, arrays of
// structs, indexed types and vectors of those are. Copied without cursors.
#pragma once

#include "datatype/datatype.h"

namespace clump::datatype {

/// Copies the packed bytes [offset, offset + bytes) if both sides are nests, of the same shape or with short
/// blocks. False, and nothing done, otherwise.
bool copy_nests(const Layout& to, const Layout& from, Count offset, Count bytes);

/// The same between a nest and a solid block. The block's address is that of packed byte `offset`.
bool pack_nest(std::intptr_t to, const Layout& from, Count offset, Count bytes);
bool unpack_nest(const Layout& to, std::intptr_t from, Count offset, Count bytes);

}  // namespace clump::datatype
