// Delivers signals to a rank that is a fiber. A signal comes to a kernel thread, and a fiber is on one only
// while it runs: then it is interrupted there. While it waits or sleeps, it is woken to handle the signal.
#pragma once

#include <sys/types.h>

#include <atomic>

#include "base/types.h"
#include "fiber/fiber.h"

namespace clump::fiber {

/// Sends `signal` to the kernel thread that runs the fiber; false if none does. The fiber may have left that
/// kernel thread before the handler runs there, so the handler has to check. Async-signal-safe.
CLUMP_HOST_API bool interrupt(const Fiber& fiber, int signal) noexcept;

/// Wakes the fiber if it sleeps, or if it waits in the way that RankCallbacks::park() has asked for: it calls
/// the function of on_wake(), and goes on waiting. By a thread that belongs to no rank.
CLUMP_HOST_API void wake_to_attend(Fiber& fiber);

/// Sets the function that a fiber calls when it was woken in the middle of a wait. The fiber holds no lock
/// there.
CLUMP_HOST_API void on_wake(void (*call)());

/// Whether the calling kernel thread is in a section of its worker thread, and so may be between two fibers.
/// Async-signal-safe.
CLUMP_HOST_API bool in_section() noexcept;

namespace detail {
extern constinit std::atomic<void (*)()> wake_function;
}  // namespace detail

}  // namespace clump::fiber
