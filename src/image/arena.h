// The address space of copies. owner_of() finds the copy that an address is in, with a few loads, from any
// thread and any signal handler, for unwinding and crash reports.
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
/// Unmaps a reservation and removes it. No thread may run code in it any more. The addresses are not used
/// again, so owner_of() returns null for them.
void release(std::uintptr_t address, std::size_t bytes);

/// The owner of the reservation that holds `address`; null if there is none.
Instance* owner_of(const void* address) noexcept;

}  // namespace arena
}  // namespace clump::image
