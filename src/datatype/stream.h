// Copying past the caches, for blocks that no cache would keep until they are wanted again.
#pragma once

#include "base/types.h"

namespace clump::datatype {

/// Whether a dense message of so many bytes is copied with stream(): when it and its copy take more than
/// three quarters of the last-level cache. Always false where stores that do so are not to be had.
bool is_streamed(Count bytes);

/// memcpy whose stores do not go through the caches. They are done when it returns.
void stream(void* to, const void* from, Count bytes);

}  // namespace clump::datatype
