// Polling calls (MPI_Test, MPI_Iprobe) that find nothing: when the caller's core goes to others.
//
// A rank that only polls until something comes should give its core away in each poll: what it polls for may
// have to come from a rank that needs this core. A rank that works between its polls should keep it: between
// processes a switch costs as much as dozens of polls. The two differ in the time between their polls.
#pragma once

#include <cstdint>

#include "fiber/fiber.h"
#include "fiber/worker.h"

namespace clump::fiber {

namespace detail {
CLUMP_HOST_API void note_look() noexcept;
}

/// Called by a polling call before it looks; yield_after_empty_poll() follows if it finds nothing.
inline void look_begins() noexcept {
  if (cores_are_shared || this_fiber() == nullptr) [[unlikely]]
    detail::note_look();
}

/// Called by a polling call that has found nothing: lets other threads run, at once or after a few empty
/// polls.
CLUMP_HOST_API void yield_after_empty_poll();

/// How often the calling thread of control has offered its core to the kernel because of empty polls.
CLUMP_HOST_API std::uint64_t offers_after_empty_polls() noexcept;

}  // namespace clump::fiber
