// The directory and the file mode mask of a fiber's kernel state, for threads other than the fiber itself:
// see kernel_state.h.
#pragma once

#include "base/types.h"
#include "fiber/kernel_state.h"

namespace clump::fiber {

/// Notes that the calling fiber's directory is the one that its kernel thread is in now. Called after the C
/// library itself has changed the directory.
CLUMP_HOST_API void note_directory();

/// Gives the calling kernel thread the directory and the file mode mask of `state`. Async-signal-safe.
CLUMP_HOST_API void enter_as(const KernelState* state) noexcept;

}  // namespace clump::fiber
