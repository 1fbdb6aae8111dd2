// A bell wakes threads of another process: it lies in memory that both have.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace clump::base {

/// Whoever is going to sleep sets its word to 1, with seq_cst, looks once more whether something was left for
/// it, and sleeps while the word is 1. All zero: nobody sleeps.
struct alignas(64) Bell {
  std::atomic<std::uint32_t> worker{0};            ///< futex: the worker thread of a worker
  std::atomic<std::uint32_t> progress_sleeper{0};  ///< futex: a thread that looks out for its whole process

  /// `worker`: another process has rung. Who sleeps there does not count as awake yet
  /// (fiber/awake_threads.h).
  static constexpr std::uint32_t kRung = 2;

  /// After something was left. Any process.
  void ring() noexcept {
    // Pairs with the seq_cst store of the one who goes to sleep: one of the two sees what the other has done.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (worker.load(std::memory_order_relaxed) == 1) [[unlikely]]
      ring_worker();
    if (progress_sleeper.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(progress_sleeper);
  }
  /// False: nobody slept.
  static bool wake(std::atomic<std::uint32_t>& word) noexcept {
    if (word.exchange(0, std::memory_order_acq_rel) == 0) return false;
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return true;
  }
  /// Sleeps while `word` is 1, no longer than `limit`, if there is one. May return without a reason.
  static void sleep(std::atomic<std::uint32_t>& word, const timespec* limit = nullptr) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAIT, 1, limit, nullptr, 0);
  }

 private:
  void ring_worker() noexcept {
    std::uint32_t asleep = 1;
    if (worker.compare_exchange_strong(asleep, kRung, std::memory_order_acq_rel))
      ::syscall(SYS_futex, &worker, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
};
static_assert(sizeof(Bell) == 64);

}  // namespace clump::base
