// Whose memory an address is, for handlers of faults.
#pragma once

#include "fiber/identity.h"

namespace clump::image {

/// The rank whose code has mapped the memory at `address` (mmap()), or in whose copy of a program or library
/// it lies. Null if that is no rank, or unknown: memory of an allocator has no owner. Async-signal-safe: any
/// thread, whatever it does.
fiber::Identity* memory_owner(const void* address) noexcept;

}  // namespace clump::image
