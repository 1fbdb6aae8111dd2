// The processor time that fibers use, once a program asks for it: the kernel counts it for kernel
// threads. A worker thread's time goes to the fiber that has run there. A short turn is measured by the wall
// clock, which costs little; a longer one, in which the kernel thread may have waited or another may have had
// the core, by the kernel thread's own clock.
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

/// The calling thread's own, as long as this thread is. What it has used as a kernel thread is not in it.
CLUMP_HOST_API const ProcessorTime& own_processor_time() noexcept;
/// Adds what the calling fiber has used in its present turn. Nothing for a kernel thread.
CLUMP_HOST_API void count_processor_time() noexcept;

namespace detail {
extern constinit std::atomic<bool> processor_time_is_kept;
/// What ran on the calling fiber's worker thread has had its turn; the caller, which may be the idle loop,
/// begins its own.
void begin_turn() noexcept;
/// on_resume while it is kept.
void resume_in_turn();
}  // namespace detail

}  // namespace clump::fiber
