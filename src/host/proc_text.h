// What files of /proc say of a sleeping thread. Not for other layers.
#pragma once

#include <cstdint>
#include <string_view>

namespace clump::host {

/// What a thread sleeps in.
struct FutexWait {
  std::uint64_t address = 0;  ///< 0: it does not sleep in a futex, or not without a limit of time
  bool is_private = false;

  friend bool operator==(const FutexWait&, const FutexWait&) = default;
};

/// `call`: /proc/self/task/N/syscall, the number of the system call and its arguments.
FutexWait futex_wait_of(std::string_view call);

/// How often it has gone to sleep. `status`: /proc/self/task/N/status. kNoSwitches: it does not tell.
inline constexpr std::uint64_t kNoSwitches = ~std::uint64_t{0};
std::uint64_t switches_of(std::string_view status);

}  // namespace clump::host
