// Address space for copies, and the answer to "whose copy is this address in?" in a few loads, from any
// thread and any signal handler: unwinding and crash reports ask that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace clump::image {

struct Instance;

namespace arena {

/// Copies begin at multiples of this.
inline constexpr std::size_t kGranule = std::size_t{1} << 16;

/// Reserves `bytes` (rounded up to the granule) for `owner`, aligned to `alignment`, with no access.
/// MPI_ERR_NO_MEM if the address space is used up.
base::Status reserve(Instance* owner, std::size_t bytes, std::size_t alignment, std::uintptr_t* address);
/// Unmaps and forgets it. Nobody may be running in it any more. Its addresses are not used again: late
/// lookups find nothing.
void release(std::uintptr_t address, std::size_t bytes);

/// The owner of the reservation that holds `address`; null if there is none.
Instance* owner_of(const void* address) noexcept;

}  // namespace arena
}  // namespace clump::image
