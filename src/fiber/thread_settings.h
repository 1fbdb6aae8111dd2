// What a thread may ask of the kernel for itself, besides directory, masks and cores: memory policy, timer
// slack, priority of its input and output. A part of what a fiber has set (kernel_state.h).
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"

namespace clump::fiber {

struct ThreadSettings {
  /// A memory policy as in set_mempolicy(2). The kernel knows no more than 1,024 nodes.
  struct MemoryPolicy {
    std::uint32_t mode = 0;  ///< MPOL_DEFAULT
    std::array<std::uint64_t, 16> nodes{};
    bool operator==(const MemoryPolicy&) const = default;
  };
  MemoryPolicy memory;
  std::uint64_t timer_slack = 0;  ///< in ns
  std::uint32_t io_priority = 0;  ///< as in ioprio_set(2)
  bool operator==(const ThreadSettings&) const = default;

  /// The settings of the calling kernel thread. What the kernel does not tell is 0.
  static ThreadSettings now() noexcept;
  /// Gives the calling kernel thread the settings that differ from `before`, which it has.
  void take_on_after(const ThreadSettings& before) const noexcept;
};

// For a rank that is a fiber; 0, or -1 with errno, as the system call of that name. All of them may be called
// in signal handlers.

/// `nodes` has `bits` - 1 bits, as the kernel counts; null: no nodes.
CLUMP_HOST_API long change_memory_policy(int mode, const std::uint64_t* nodes, std::uint64_t bits) noexcept;
CLUMP_HOST_API long change_timer_slack(std::uint64_t nanoseconds) noexcept;
/// For the calling thread.
CLUMP_HOST_API long change_io_priority(int priority) noexcept;

// kernel_state.cc: reads what is noted for the calling fiber, and notes it. The kernel thread has it already.
ThreadSettings settings_of_caller() noexcept;
void note_settings_of_caller(const ThreadSettings& settings) noexcept;

}  // namespace clump::fiber
