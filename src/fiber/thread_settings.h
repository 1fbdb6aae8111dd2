// What a thread may ask of the kernel for itself, beside directory, masks and cores: memory policy, timer
// slack, priority of its input and output. A part of what a fiber has set (kernel_state.h).
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

struct ThreadSettings {
  /// As set_mempolicy(2) takes it. The kernel knows no more than 1,024 nodes.
  struct MemoryPolicy {
    std::uint32_t mode = 0;  ///< MPOL_DEFAULT
    std::array<std::uint64_t, 16> nodes{};
    bool operator==(const MemoryPolicy&) const = default;
  };
  MemoryPolicy memory;
  std::uint64_t timer_slack = 0;  ///< in ns
  std::uint32_t io_priority = 0;  ///< as ioprio_set(2) takes it
  bool operator==(const ThreadSettings&) const = default;

  /// Those of the calling kernel thread. What the kernel does not tell is 0.
  static ThreadSettings now() noexcept;
  /// Gives the calling kernel thread what is different from `before`, which it has.
  void take_on_after(const ThreadSettings& before) const noexcept;
};

// By a rank that is a fiber; 0, or -1 with errno, as the system call of that name. All of them may be called
// in signal handlers.

/// `nodes` has `bits` - 1 bits, as the kernel counts; null if it names none.
CLUMP_HOST_API long change_memory_policy(int mode, const std::uint64_t* nodes, std::uint64_t bits) noexcept;
CLUMP_HOST_API long change_timer_slack(std::uint64_t nanoseconds) noexcept;
/// Of the calling thread.
CLUMP_HOST_API long change_io_priority(int priority) noexcept;

// kernel_state.cc: what is noted for the calling fiber, and noting it. Its kernel thread has it already.
ThreadSettings settings_of_caller() noexcept;
void note_settings_of_caller(const ThreadSettings& settings) noexcept;

}  // namespace clump::fiber
