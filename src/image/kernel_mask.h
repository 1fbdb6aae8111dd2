// The signal mask that the kernel has for the calling thread.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <initializer_list>

namespace clump::image::signals {

/// A set of signals, as the kernel has it.
using Set = std::uint64_t;
constexpr Set bit_of(int number) { return Set{1} << (number - 1); }
constexpr Set set_of(std::initializer_list<int> numbers) {
  Set set = 0;
  for (const int number : numbers) set |= bit_of(number);
  return set;
}
/// The signals that an instruction causes. The kernel must not block them, or a fault would end the process
/// without a report.
inline constexpr Set kFaults = set_of({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP});

/// Blocks all signals of the calling thread but faults; returns what was blocked. Keeps errno.
inline Set block_all() noexcept {
  constexpr Set kAll = ~kFaults;
  Set before = 0;
  const int error = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAll, &before, sizeof before);
  errno = error;
  return before;
}

inline void set_kernel_mask(Set blocked) noexcept {
  const int error = errno;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
  errno = error;
}

}  // namespace clump::image::signals
