// Whether memory that an operation names is attached to a dynamic window.
#pragma once

#include <cstdint>
#include <span>

#include "datatype/datatype.h"
#include "rma/window_map.h"

namespace clump::rma {

/// Whether all bytes of [begin, end) are in pieces, of which several may lie next to each other.
bool covers(std::span<const Attached::Piece> pieces, std::uintptr_t begin, std::uintptr_t end);
/// The same of all blocks of a layout. What lies between them need not be attached.
bool covers_blocks(std::span<const Attached::Piece> pieces, const datatype::Layout& place);

}  // namespace clump::rma
