// How large the stacks of a process's ranks begin, how large they may become, and how far they lie apart. Not
// for other layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace clump::host {

inline constexpr std::size_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;

/// What the system gives. All in bytes.
struct StackLimits {
  std::optional<std::size_t> soft = {};  ///< RLIMIT_STACK (ulimit -s); nothing: unlimited
  std::size_t address_space = SIZE_MAX;  ///< that all stacks together may take; SIZE_MAX: no limit
  std::size_t thread_locals = 0;         ///< of variables that lie on a rank's stack, and not on a process's
  std::size_t page = 4096;
  bool is_sanitized = false;  ///< a sanitizer keeps a shadow of all memory
};

/// All in bytes, and whole pages.
struct StackPlan {
  std::size_t guard = 0;   ///< below each stack, where nothing can be touched
  std::size_t room = 0;    ///< most that a stack can have
  std::size_t wanted = 0;  ///< what it begins with
  std::size_t least = 0;   ///< what will do where `wanted` is all there is
};

/// For `count` stacks, 1 or more.
StackPlan plan_stacks(const StackLimits& limits, std::size_t count);

/// The next smaller plan, for where there is no address space for this one. False: there is none.
[[nodiscard]] bool make_smaller(StackPlan& plan, std::size_t page);

}  // namespace clump::host
