// How long a kernel thread has run, and how long it could have run and had no core, as the kernel counts
// them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace clump::base {

struct CoreTime {
  std::chrono::nanoseconds run{};
  std::chrono::nanoseconds delay{};  ///< ready to run, without a core
};

/// `schedstat`: what such a file says. Nothing if it is empty.
std::optional<CoreTime> core_time_of(std::string_view schedstat) noexcept;

/// `path`: "/proc/thread-self/schedstat", or another thread's. Nothing if the thread has ended, or the kernel
/// does not tell. It costs some three microseconds, makes the system calls itself, as the C library's may be
/// those of a rank, and leaves errno alone. Async-signal-safe.
std::optional<CoreTime> read_core_time(const char* path = "/proc/thread-self/schedstat") noexcept;

}  // namespace clump::base
