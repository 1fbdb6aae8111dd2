#include "fiber/thread_settings.h"

#include <linux/mempolicy.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace clump::fiber {

namespace {

// linux/ioprio.h is not in every distribution's headers.
constexpr int kIoOfThread = 1;  // IOPRIO_WHO_PROCESS

/// One more than there are nodes: the kernel leaves the last bit out.
constexpr std::uint64_t kPolicyBits = 1024 + 1;

long set_policy(const ThreadSettings::MemoryPolicy& policy) noexcept {
  const bool names_nodes = std::ranges::any_of(policy.nodes, [](std::uint64_t word) { return word != 0; });
  return ::syscall(SYS_set_mempolicy, policy.mode, names_nodes ? policy.nodes.data() : nullptr,
                   names_nodes ? kPolicyBits : 0);
}

}  // namespace

ThreadSettings ThreadSettings::now() noexcept {
  const int error = errno;
  ThreadSettings mine;
  int mode = 0;
  if (::syscall(SYS_get_mempolicy, &mode, mine.memory.nodes.data(), kPolicyBits - 1, nullptr, 0) == 0)
    mine.memory.mode = static_cast<std::uint32_t>(mode);
  else
    mine.memory = {};
  const long slack = ::syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
  mine.timer_slack = slack > 0 ? static_cast<std::uint64_t>(slack) : 0;
  const long priority = ::syscall(SYS_ioprio_get, kIoOfThread, 0);
  mine.io_priority = priority > 0 ? static_cast<std::uint32_t>(priority) : 0;
  errno = error;
  return mine;
}

void ThreadSettings::take_on_after(const ThreadSettings& before) const noexcept {
  if (before.memory != memory) set_policy(memory);
  if (before.timer_slack != timer_slack) ::syscall(SYS_prctl, PR_SET_TIMERSLACK, timer_slack, 0, 0, 0);
  if (before.io_priority != io_priority) ::syscall(SYS_ioprio_set, kIoOfThread, 0, io_priority);
}

// Each sets the value for the calling kernel thread, which the kernel may refuse, and then notes it.

long change_memory_policy(int mode, const std::uint64_t* nodes, std::uint64_t bits) noexcept {
  const long set = ::syscall(SYS_set_mempolicy, mode, nodes, bits);
  if (set != 0) return set;
  ThreadSettings settings = settings_of_caller();
  settings.memory = {static_cast<std::uint32_t>(mode), {}};
  if (nodes != nullptr && bits > 1) {
    std::uint64_t left = std::min(bits, kPolicyBits) - 1;
    for (std::uint64_t& word : settings.memory.nodes) {
      if (left == 0) break;
      const std::uint64_t taken = std::min<std::uint64_t>(left, 64);
      word = *nodes++ & (taken == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << taken) - 1);
      left -= taken;
    }
  }
  note_settings_of_caller(settings);
  return 0;
}

long change_timer_slack(std::uint64_t nanoseconds) noexcept {
  const long set = ::syscall(SYS_prctl, PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0);
  if (set != 0) return set;
  ThreadSettings settings = settings_of_caller();
  settings.timer_slack = ThreadSettings::now().timer_slack;  // 0 asks for the thread's default
  note_settings_of_caller(settings);
  return 0;
}

long change_io_priority(int priority) noexcept {
  const long set = ::syscall(SYS_ioprio_set, kIoOfThread, 0, priority);
  if (set != 0) return set;
  ThreadSettings settings = settings_of_caller();
  settings.io_priority = static_cast<std::uint32_t>(priority);
  note_settings_of_caller(settings);
  return 0;
}

}  // namespace clump::fiber
