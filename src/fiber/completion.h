// Completion: how a thread of control waits for something that another one does.
//
//   pending --signal()--> done          waiter: polls, then leaves its address in the word and sleeps
//   pending --waiter's address--> signal() exchanges it for "done" and wakes that waiter
//
// A Completion is one word. The thread that finishes the work calls signal() once; at most one thread of
// control waits at a time. Kernel threads and fibers (fiber.h) wait in the same way: they poll for as long as
// a message takes between two cores. After that a kernel thread sleeps in the kernel, and a fiber lets its
// worker run others.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "fiber/awake_threads.h"
#include "fiber/world_stop.h"

namespace clump::fiber {

class RankCallbacks;
struct Fiber;
struct BlockedThread;

/// The place where one thread of control sleeps. Waiters are pooled and their memory is never freed. So if
/// unpark() comes late, when the thread has gone on or has ended, it accesses valid memory and causes at most
/// one needless wake-up.
class alignas(16) Waiter {
 public:
  /// The Waiter of the calling thread of control.
  CLUMP_HOST_API static Waiter& mine();

  /// Sleeps until unpark() was called since the last park(). It may also return without that: callers test
  /// their condition again.
  CLUMP_HOST_API void park();
  /// Wakes the thread in park(), or makes the next park() return at once. Any thread.
  CLUMP_HOST_API void unpark();

  Waiter* next_sleeper = nullptr;  ///< used by progress_sleeper.cc

  /// Adds the kernel threads that sleep and are held by a WorldStop (world_stop.h).
  static void add_blocked(std::vector<BlockedThread>& sleepers);
  /// How many kernel threads sleep and were not woken yet.
  static int count_blocked();

 private:
  enum State : std::uint32_t { kIdle, kPermitted, kAsleep, kWatching };
  std::atomic<std::uint32_t> state_{kIdle};
  Fiber* fiber_ = nullptr;  // the fiber that it belongs to; null: a kernel thread
  Waiter* next_idle_ = nullptr;
  Waiter* next_made_ = nullptr;
  // While a kernel thread sleeps: what a report says about it, and whether it may be reported.
  BlockedThread told_;
  std::atomic<bool> tells_{false};
  [[gnu::noinline]] void sleep_in_kernel(std::uint32_t asleep);
  friend struct WaiterPool;
  friend class Completion;
};

class Completion {
 public:
  bool done() const noexcept {
    return state_.load(std::memory_order_acquire) == kDone;  // acquire: pairs with the release in signal()
  }
  /// Marks the work as done and wakes its waiter. The Completion may be gone when this returns. Returns true
  /// if it was abandoned: then no other thread will access it, and the caller has to free the object that it
  /// is part of.
  [[gnu::always_inline]] bool signal() noexcept {
    // acq_rel: release pairs with the acquire in done(); acquire pairs with the release of the thread that
    // has left a Waiter here.
    const std::uintptr_t before = state_.exchange(kDone, std::memory_order_acq_rel);
    if (before == kPending) return false;
    if (before == kAbandoned) return true;
    wake(before);
    return false;
  }
  /// The same for a thread that most likely has the word in its cache: it is cheaper if the completion is
  /// expected.
  [[gnu::always_inline]] bool signal_near() noexcept {
    // No other thread writes an expected completion. acquire, release: as above.
    const std::uintptr_t before = state_.load(std::memory_order_acquire);
    if ((before & kExpected) == 0) return signal();
    state_.store(kDone, std::memory_order_release);
    wake(before);
    return false;
  }
  /// Marks work as done that only the caller knows of: no thread waits for it, and no other thread will
  /// signal.
  void end_here() noexcept { state_.store(kDone, std::memory_order_release); }
  /// Declares that no thread will wait. Returns false if the work is done already: then the caller has to
  /// clean up.
  bool abandon() noexcept {
    std::uintptr_t expected = kPending;
    return state_.compare_exchange_strong(expected, kAbandoned, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  /// Makes it pending again, for work that is started again. Only when no thread waits.
  void reset() noexcept { state_.store(kPending, std::memory_order_relaxed); }

  /// The thread that waits, as BlockedThread::who; null: none. Called while there is a WorldStop.
  CLUMP_HOST_API const void* sleeper() const noexcept;

  /// Blocks until done().
  void wait() {
    while (!done()) sleep_until_signal();
  }
  /// Called before the caller lets other threads know of the work, if it will do nothing but wait then. True:
  /// the thread that ends the work wakes the caller, wherever the caller is, so that the two need not agree
  /// by the word. wait_expected() has to follow, and no other wait may come before it. False: the caller does
  /// not simply sleep, and wait() has to follow.
  CLUMP_HOST_API bool expect() noexcept;
  CLUMP_HOST_API void wait_expected() noexcept;

 private:
  friend CLUMP_HOST_API void wait_any(std::span<Completion* const> completions);
  CLUMP_HOST_API void sleep_until_signal();
  void sleep_otherwise();
  void sleep_unwatched();
  void poll_and_sleep(Fiber& self);
  void leave_name_and_sleep(Fiber& self);
  void sleep_as_kernel_thread();
  /// Returns when one of them is done or, with `callbacks`, when there are callbacks to run.
  static void wait_for_any(std::span<Completion* const> completions, RankCallbacks* callbacks);
  /// The same until one is done; runs the callbacks that `callbacks` has.
  static void wait_with_callbacks(std::span<Completion* const> completions, RankCallbacks* callbacks);
  CLUMP_HOST_API static void wake(std::uintptr_t who);
  static constexpr std::uintptr_t kPending = 0;
  static constexpr std::uintptr_t kDone = 1;
  static constexpr std::uintptr_t kAbandoned = 2;
  /// Added to a Fiber*: the fiber waits for this Completion alone, so that one wake-up belongs to one wait,
  /// and no agreement is needed. Without it the word is a Waiter*.
  static constexpr std::uintptr_t kFiber = 4;
  /// Added to that as well: the fiber sleeps, or is about to sleep, and does not check whether the work is
  /// done.
  static constexpr std::uintptr_t kExpected = 8;
  std::atomic<std::uintptr_t> state_{kPending};
};

/// Blocks until at least one of them is done. Null pointers are skipped; at least one must not be null.
CLUMP_HOST_API void wait_any(std::span<Completion* const> completions);

/// Polls `word` for as long as the waiter of a Completion polls before it sleeps. True if it is `least` or
/// more; acquire. Meanwhile `pollers`, if given, is greater by one; seq_cst when it is decreased.
CLUMP_HOST_API bool poll_for(const std::atomic<std::uint64_t>& word, std::uint64_t least,
                             std::atomic<int>* pollers = nullptr);

/// Sets whether each rank of this host process has a core of its own, so that it pays for kernel threads to
/// spin a little before they sleep. Once, at the start.
CLUMP_HOST_API void set_spinning(bool spin);
bool is_spinning() noexcept;

}  // namespace clump::fiber
