// How a thread of control waits for something that another one does.
//
// A Completion is one word: pending, done, or the Waiter that wants to know. Whoever finishes the work calls
// signal() once; at most one thread of control waits on a Completion at a time. Both schedulers (kernel
// threads, fibers) sit behind Waiter.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace clump::fiber {

/// Where one thread of control sleeps. Waiters are pooled and their memory is never given back, so that a
/// late unpark() of a thread that has gone on, or has ended, touches valid memory and costs at most one
/// needless wake-up.
class Waiter {
 public:
  /// The calling thread of control's own.
  CLUMP_HOST_API static Waiter& mine();

  /// Sleeps until unpark() was called since the last park(). May also return without: callers test their
  /// condition again.
  CLUMP_HOST_API void park();
  /// Wakes park(), now or when it is called. Any thread.
  CLUMP_HOST_API void unpark();

 private:
  enum State : std::uint32_t { kIdle, kPermitted, kAsleep };
  std::atomic<std::uint32_t> state_{kIdle};
  Waiter* next_idle_ = nullptr;
  friend struct WaiterPool;
};

// Deadlock. Only threads of ranks wake threads of ranks, so when the last one that is awake goes to sleep,
// none will ever wake. A thread that is outside MPI counts as awake, whatever it does there: there is no
// false alarm.

/// The runtime counts a rank or a thread of one in before it begins, and out at its end.
CLUMP_HOST_API void thread_begins() noexcept;
CLUMP_HOST_API void thread_ends() noexcept;
/// What the last thread to fall asleep calls; must not return. Without it nobody cares.
CLUMP_HOST_API void on_deadlock(void (*report)());

class Completion {
 public:
  bool done() const noexcept {
    return state_.load(std::memory_order_acquire) == kDone;  // acquire: pairs with the release in signal()
  }
  /// Marks the work as done and wakes who waits for it. The Completion may be gone when this returns. Returns
  /// true if it was abandoned: then nobody else will touch it, and what it is part of is the caller's.
  bool signal() noexcept {
    // acq_rel: release pairs with the acquire in done(); acquire pairs with the release of whoever left a
    // Waiter here.
    const std::uintptr_t before = state_.exchange(kDone, std::memory_order_acq_rel);
    if (before == kPending) return false;
    if (before == kAbandoned) return true;
    reinterpret_cast<Waiter*>(before)->unpark();
    return false;
  }
  /// Says that nobody will wait. Returns false if the work is done already: then it is the caller's to clean
  /// up.
  bool abandon() noexcept {
    std::uintptr_t expected = kPending;
    return state_.compare_exchange_strong(expected, kAbandoned, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  /// Back to pending, for work that is started again. Only when nobody waits.
  void reset() noexcept { state_.store(kPending, std::memory_order_relaxed); }

  /// Blocks until done().
  void wait() {
    while (!done()) sleep_until_signal();
  }

 private:
  friend CLUMP_HOST_API void wait_any(std::span<Completion* const> completions);
  CLUMP_HOST_API void sleep_until_signal();
  static constexpr std::uintptr_t kPending = 0;
  static constexpr std::uintptr_t kDone = 1;
  static constexpr std::uintptr_t kAbandoned = 2;
  std::atomic<std::uintptr_t> state_{kPending};
};

/// Blocks until at least one is done. Null pointers are skipped; there must be one that is not null.
CLUMP_HOST_API void wait_any(std::span<Completion* const> completions);

/// What a polling call (MPI_Test, MPI_Iprobe) does when it found nothing: after a few empty polls in a row it
/// lets others run.
CLUMP_HOST_API void yield_after_empty_poll();

/// Whether each rank of this host process has a core of its own, so that spinning a little before sleeping
/// pays. Set once at start.
CLUMP_HOST_API void set_spinning(bool spin);

}  // namespace clump::fiber
