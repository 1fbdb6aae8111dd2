// Copying past the caches, for blocks that no cache would keep until they are wanted again.
#pragma once

#include "base/types.h"

namespace clump::datatype {

/// Whether dense data is copied with stream(): when all that is read and written meanwhile, so many bytes,
/// takes three quarters of the last-level cache. Always false where stores that do so are not to be had.
bool is_streamed(Count touched);

/// memcpy whose stores do not go through the caches. They are done when it returns.
void stream(void* to, const void* from, Count bytes);

}  // namespace clump::datatype
