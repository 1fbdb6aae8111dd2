// The directory and the file mode mask of a fiber's kernel state, for others than the fiber itself: see
// kernel_state.h.
#pragma once

#include "base/types.h"
#include "fiber/kernel_state.h"

namespace clump::fiber {

/// The calling fiber's directory is the one that its kernel thread is in now: the C library has changed it by
/// itself.
CLUMP_HOST_API void note_directory();

/// Directory and file mode mask of the calling kernel thread become those of `state`. Async-signal-safe.
CLUMP_HOST_API void enter_as(const KernelState* state) noexcept;

}  // namespace clump::fiber
