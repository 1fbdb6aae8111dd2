// Copying past the caches, for blocks that no cache would keep until they are wanted again.
#pragma once

#include "base/types.h"

namespace clump::datatype {

/// Whether dense data is copied with stream(): when all that is read and written meanwhile, so many bytes,
/// takes three quarters of the last-level cache, of which no more than 32 MB count. Always false where stores
/// that do so are not to be had.
bool is_streamed(Count touched);
/// The same of a single copy, whose receiver may be about to read it: the whole last-level cache counts.
bool is_streamed_alone(Count touched);

/// memcpy whose stores do not go through the caches. They may be done late: before another thread is told of
/// them, who made them calls drain_streams().
void stream(void* to, const void* from, Count bytes);

/// Returns when the stores of the calling thread's streams are done. This waits for memory: once after many.
void drain_streams();

}  // namespace clump::datatype
