// The processor time that fibers use, counted once a program asks for it, because the kernel counts it for
// kernel threads. A worker thread's time goes to the fiber that has run there. A short turn is measured by
// the wall clock, which costs little. A longer one, in which the kernel thread may have waited or may have
// lost its core, is measured by the kernel thread's own clock.
#pragma once

#include <atomic>
#include <chrono>

#include "base/types.h"

namespace clump::fiber {

/// A fiber's time in nanoseconds, since keep_processor_time(). Written by the worker thread that runs it.
using ProcessorTime = std::atomic<std::int64_t>;

/// From here on it is counted. Any thread, any number of times.
CLUMP_HOST_API void keep_processor_time() noexcept;
CLUMP_HOST_API bool keeps_processor_time() noexcept;

/// The time of the calling thread of control, valid as long as the thread. Time that it has used as a kernel
/// thread is not included.
CLUMP_HOST_API const ProcessorTime& own_processor_time() noexcept;
/// Adds what the calling fiber has used in its present turn. Does nothing for a kernel thread.
CLUMP_HOST_API void count_processor_time() noexcept;

namespace detail {
extern constinit std::atomic<bool> processor_time_is_kept;
/// Ends the turn of what ran on the calling fiber's worker thread before; the caller, which may be the idle
/// loop, begins its own.
void begin_turn() noexcept;
/// The value of on_resume while processor time is counted.
void resume_in_turn();
}  // namespace detail

}  // namespace clump::fiber
