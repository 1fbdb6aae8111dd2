// Records: layouts that are `count` times the same list of blocks of different sizes, which is what arrays of
// structs and indexed types are. Copied without cursors.
#pragma once

#include "datatype/datatype.h"

namespace clump::datatype {

/// Copies the packed bytes [offset, offset + bytes) if one side consists of records and the other is solid or
/// consists of the same records. False, and nothing done, otherwise.
bool copy_records(const Layout& to, const Layout& from, Count offset, Count bytes);

/// Either side of a copy between a layout and a solid block. The block's address is that of packed byte
/// `offset`.
bool pack_records(std::intptr_t to, const Layout& from, Count offset, Count bytes);
bool unpack_records(const Layout& to, std::intptr_t from, Count offset, Count bytes);

}  // namespace clump::datatype
