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

/// A thread that is going to sleep sets its word to an odd number, with seq_cst, makes a fence, looks once
/// more whether something was left for it, and sleeps while the word is that number. All zero: no thread
/// sleeps.
struct alignas(64) Bell {
  std::atomic<std::uint32_t> worker{0};            ///< futex: the worker thread of a worker
  std::atomic<std::uint32_t> progress_sleeper{0};  ///< futex: a thread that looks out for its whole process

  /// The numbers of `worker` while its thread sleeps: kLeast, or more by a multiple of kStep; with kNap, if
  /// the thread sleeps for a limited time and counts as awake all the while (fiber/awake_threads.h). Less by
  /// 1: another process has rung. A thread that does not nap is not counted as awake then.
  static constexpr std::uint32_t kLeast = 5, kStep = 4, kNap = 2;
  static constexpr bool naps(std::uint32_t word) noexcept { return (word & kNap) != 0; }
  static constexpr bool is_rung(std::uint32_t word) noexcept { return word != 0 && !sleeps(word); }
  /// Whether a word with this value says that its thread sleeps, and was not woken.
  static constexpr bool sleeps(std::uint32_t word) noexcept { return word % 2 != 0; }

  /// After something was left. Any process.
  void ring() noexcept {
    // Pairs with the fence of the thread that goes to sleep (progress_sleeper.cc; the fence or the membarrier
    // in WorkerThread::looks_once_more): one of the two sees what the other has done.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (const std::uint32_t asleep = worker.load(std::memory_order_relaxed); sleeps(asleep)) [[unlikely]]
      ring_worker(asleep);
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
  /// `asleep`: what `worker` is. It may become the number of another thread that serves the worker.
  void ring_worker(std::uint32_t asleep) noexcept {
    while (sleeps(asleep))
      if (worker.compare_exchange_weak(asleep, asleep - 1, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        ::syscall(SYS_futex, &worker, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
        return;
      }
  }
};
static_assert(sizeof(Bell) == 64);

}  // namespace clump::base
