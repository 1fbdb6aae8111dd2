// How long a kernel thread could have run and had no core, as the kernel counts it.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace clump::base {

/// `schedstat`: what such a file says. Nothing if it is empty.
std::optional<std::chrono::nanoseconds> core_delay_of(std::string_view schedstat) noexcept;

/// `path`: "/proc/thread-self/schedstat", or another thread's. Nothing if the thread has ended, or the kernel
/// does not tell. What a thread waits for a core at this moment is not counted yet. The look costs some three
/// microseconds. It makes the system calls itself, as the C library's may be those of a rank, and leaves
/// errno alone. Async-signal-safe.
std::optional<std::chrono::nanoseconds> read_core_delay(
    const char* path = "/proc/thread-self/schedstat") noexcept;

}  // namespace clump::base
