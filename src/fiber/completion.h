// Completion: how a thread of control waits for something that another one does.
//
//   pending --signal()--> done          waiter: polls, then leaves its address in the word and sleeps
//   pending --waiter's address--> signal() exchanges it for "done" and wakes that waiter
//
// A Completion is one word. The thread that finishes the work calls signal() once; at most one thread of
// control waits at a time. Kernel threads and fibers (fiber.h) wait in the same way: they poll for as long as
// a message between two cores takes; then a kernel thread sleeps in the kernel, and a fiber lets its worker
// run others.
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

/// Where one thread of control sleeps. Waiters are pooled and their memory is never given back, so that a
/// late unpark() of a thread that has gone on, or has ended, touches valid memory and costs at most one
/// needless wake-up.
class alignas(16) Waiter {
 public:
  /// The calling thread of control's own.
  CLUMP_HOST_API static Waiter& mine();

  /// Sleeps until unpark() was called since the last park(). May also return without: callers test their
  /// condition again.
  CLUMP_HOST_API void park();
  /// Wakes park(), now or when it is called. Any thread.
  CLUMP_HOST_API void unpark();

  Waiter* next_sleeper = nullptr;  ///< progress_sleeper.cc's

  /// The kernel threads that sleep here, and are held (world_stop.h).
  static void add_blocked(std::vector<BlockedThread>& sleepers);
  /// How many of them were not woken yet.
  static int count_blocked();

 private:
  enum State : std::uint32_t { kIdle, kPermitted, kAsleep, kWatching };
  std::atomic<std::uint32_t> state_{kIdle};
  Fiber* fiber_ = nullptr;  // whose it is; null: a kernel thread's
  Waiter* next_idle_ = nullptr;
  Waiter* next_made_ = nullptr;
  // While a kernel thread sleeps: what can be told about it, and that it can.
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
  /// Marks the work as done and wakes its waiter. The Completion may be gone when this returns. Returns
  /// true if it was abandoned: then no other thread will touch it, and what it is part of is the caller's.
  [[gnu::always_inline]] bool signal() noexcept {
    // acq_rel: release pairs with the acquire in done(); acquire pairs with the release of whoever left a
    // Waiter here.
    const std::uintptr_t before = state_.exchange(kDone, std::memory_order_acq_rel);
    if (before == kPending) return false;
    if (before == kAbandoned) return true;
    wake(before);
    return false;
  }
  /// The same by a thread that has the word in its cache, most likely: costs less where it is expected.
  [[gnu::always_inline]] bool signal_near() noexcept {
    // No other thread writes what is expected. acquire, release: as above.
    const std::uintptr_t before = state_.load(std::memory_order_acquire);
    if ((before & kExpected) == 0) return signal();
    state_.store(kDone, std::memory_order_release);
    wake(before);
    return false;
  }
  /// Marks the work as done that the caller alone knows of: no thread waits, and no other one will signal.
  void end_here() noexcept { state_.store(kDone, std::memory_order_release); }
  /// Says that no thread will wait. Returns false if the work is done already: then it is the caller's to
  /// clean up.
  bool abandon() noexcept {
    std::uintptr_t expected = kPending;
    return state_.compare_exchange_strong(expected, kAbandoned, std::memory_order_acq_rel,
                                          std::memory_order_acquire);
  }
  /// Back to pending, for work that is started again. Only when no thread waits.
  void reset() noexcept { state_.store(kPending, std::memory_order_relaxed); }

  /// The thread that waits, as BlockedThread::who; null: none. While there is a WorldStop.
  CLUMP_HOST_API const void* sleeper() const noexcept;

  /// Blocks until done().
  void wait() {
    while (!done()) sleep_until_signal();
  }
  /// Before the caller lets others know of the work, if all that it will do then is to wait. True: whoever
  /// ends the work wakes the caller, wherever it is, so that they need not agree. wait_expected() has to
  /// follow, and no other wait before. False: it does not simply sleep, and wait() has to follow.
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
  /// Returns when one is done or, with `callbacks`, when there are some.
  static void wait_for_any(std::span<Completion* const> completions, RankCallbacks* callbacks);
  /// The same, until one is done; runs what `callbacks` there are.
  static void wait_with_callbacks(std::span<Completion* const> completions, RankCallbacks* callbacks);
  CLUMP_HOST_API static void wake(std::uintptr_t who);
  static constexpr std::uintptr_t kPending = 0;
  static constexpr std::uintptr_t kDone = 1;
  static constexpr std::uintptr_t kAbandoned = 2;
  /// Added to a Fiber*: it waits for this Completion alone, so that one wake-up belongs to one wait and there
  /// is nothing to agree on. Otherwise it is a Waiter*.
  static constexpr std::uintptr_t kFiber = 4;
  /// Added to that as well: it sleeps, or is on its way to sleep, and does not look whether the work is done.
  static constexpr std::uintptr_t kExpected = 8;
  std::atomic<std::uintptr_t> state_{kPending};
};

/// Blocks until at least one is done. Null pointers are skipped; there must be one that is not null.
CLUMP_HOST_API void wait_any(std::span<Completion* const> completions);

/// Polls `word` for as long as the waiter of a Completion polls before it sleeps. True if it is `least` or
/// more; acquire. `pollers`, if given, is one more meanwhile; seq_cst where it becomes less again.
CLUMP_HOST_API bool poll_for(const std::atomic<std::uint64_t>& word, std::uint64_t least,
                             std::atomic<int>* pollers = nullptr);

/// What a polling call (MPI_Test, MPI_Iprobe) does when it found nothing: after a few empty polls in a row it
/// lets others run.
CLUMP_HOST_API void yield_after_empty_poll();

/// Whether each rank of this host process has a core of its own, so that it pays for kernel threads to spin a
/// little before they sleep. Set once at start.
CLUMP_HOST_API void set_spinning(bool spin);

}  // namespace clump::fiber
