#include "fiber/world_stop.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "fiber/completion.h"
#include "fiber/processor_time.h"
#include "fiber/progress_sleeper.h"
#include "fiber/switch.h"
#include "fiber/worker.h"

namespace clump::fiber {

namespace detail {

constinit thread_local const void* innermost_wait = nullptr;

namespace {
constinit std::atomic<std::uint32_t> held{0};  // futex
}

// The variables of this library lie at the same distance from every thread pointer, because the library is
// loaded before the program begins.
const void* innermost_wait_of(const void* thread_pointer) {
  const auto distance = reinterpret_cast<std::intptr_t>(&innermost_wait) -
                        reinterpret_cast<std::intptr_t>(__builtin_thread_pointer());
  return *reinterpret_cast<const void* const*>(static_cast<const std::byte*>(thread_pointer) + distance);
}

bool is_stopped() noexcept { return held.load(std::memory_order_seq_cst) != 0; }

void stay_while_stopped() noexcept {
  while (is_stopped()) ::syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace detail

namespace {

constinit std::atomic<void (*)()> long_sleep_listener{nullptr};

/// The registers of a fiber that no thread runs: where clump_switch_context (or clump_leave_kernel_thread)
/// has left them.
Registers registers_of(const Fiber& fiber) {
  const auto* const saved = static_cast<const std::uintptr_t*>(fiber.context.stack);
  Registers found;
#if defined(__x86_64__)
  constexpr int kRbx = 5, kRbp = 6, kReturn = 7;  // below are r15 to r12 and control words
  found.stack = reinterpret_cast<std::uintptr_t>(saved + kReturn + 1);
  found.program_counter = saved[kReturn];
  found.kept[0] = saved[kRbx];
  found.kept[1] = saved[kRbp];
  for (int i = 0; i < 4; ++i) found.kept[2 + i] = saved[kRbx - 1 - i];
#elif defined(__aarch64__)
  constexpr int kWords = 22;  // x29, x30, x19 to x28, d8 to d15, FPCR
  found.stack = reinterpret_cast<std::uintptr_t>(saved + kWords);
  found.program_counter = saved[1];
  for (int i = 0; i < 10; ++i) found.kept[i] = saved[2 + i];
  found.kept[10] = saved[0];
#endif
  return found;
}

}  // namespace

WorldStop::WorldStop() {
  detail::held.store(1, std::memory_order_seq_cst);
  on_resume.store(keeps_processor_time() ? detail::resume_in_turn : detail::stay_while_stopped,
                  std::memory_order_release);
  // A fiber that is resumed from here on calls stay_while_stopped() before it does anything else; one that
  // was resumed before is seen to be in use.
  barrier_everywhere();
}

WorldStop::~WorldStop() {
  on_resume.store(keeps_processor_time() ? detail::resume_in_turn : nullptr, std::memory_order_release);
  detail::held.store(0, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &detail::held, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

std::vector<BlockedThread> WorldStop::blocked_threads() const {
  std::vector<BlockedThread> found;
  for_each_fiber([&](const Fiber& fiber) {
    if (!fiber.left_behind() || fiber.over.load(std::memory_order_relaxed)) return;
    const Registers registers = registers_of(fiber);
    // A thread that resumes the fiber overwrites the place of its registers, but nothing above it.
    if (!fiber.left_behind()) return;
    const void* const pointer = fiber.context.thread_pointer;
    found.push_back({&fiber, fiber.rank, registers, detail::innermost_wait_of(pointer), pointer});
  });
  Waiter::add_blocked(found);
  return found;
}

int sleeping_threads() { return Waiter::count_blocked(); }

bool progress_sleeper_sleeps() noexcept {
  return !progress_sleeper::is_kept() || progress_sleeper::is_asleep();
}

void on_long_sleep(void (*listener)()) { long_sleep_listener.store(listener, std::memory_order_release); }

void sleeps_for_long() {
  if (void (*const listener)() = long_sleep_listener.load(std::memory_order_acquire)) listener();
}

}  // namespace clump::fiber
