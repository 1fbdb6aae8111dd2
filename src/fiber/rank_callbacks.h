// Callbacks that run in threads of one rank only, because they call functions of the rank's program with its
// thread-local storage. A thread of the rank that waits for something else is woken to run them. The same
// classes tell an observer how long threads of the rank wait.
#pragma once

#include <atomic>

#include "base/mutex.h"
#include "base/types.h"
#include "fiber/identity.h"

namespace clump::fiber {

class Waiter;
class CallbackWait;

/// Is told, in the thread of control itself, when a thread of control of a watched rank begins to wait, and
/// when it goes on.
class WaitObserver {
 public:
  virtual void wait_begins() noexcept = 0;
  virtual void wait_ended() noexcept = 0;

 protected:
  ~WaitObserver() = default;
};

/// The callbacks of a rank. One for each rank; fiber::Identity has a pointer to it.
class RankCallbacks {
 public:
  /// Expects `more` callbacks; negative: fewer are expected again. While some are expected, the rank's
  /// threads of control wait in a way that costs more and lets call() wake them. Any thread.
  void expect(int more) noexcept { expected_.fetch_add(more, std::memory_order_relaxed); }

  /// Says that the rank has, or may have, other threads than its first one. From now on each of its threads
  /// of control waits in a way that lets call() and interrupt.h wake it: another thread may begin what leads
  /// to a callback, or handle a signal, and end, while this one waits. Called by a thread of the rank before
  /// it makes another one.
  static void has_threads(Identity& rank) noexcept {
    // relaxed: a new thread is ordered after its creation. If it is true already, belong_to() has seen it, or
    // will see it.
    if (rank.threaded.exchange(true, std::memory_order_relaxed)) return;
    if (rank.callbacks != nullptr) rank.callbacks->find_waits();
  }
  /// Begins to be the rank's callbacks. Once, before the rank calls MPI.
  void belong_to(Identity& rank) noexcept {
    rank.callbacks = this;
    if (rank.threaded.load(std::memory_order_relaxed)) find_waits();
    if (rank.parks.load(std::memory_order_relaxed)) park();
  }

  virtual bool any() const noexcept = 0;
  /// Runs the callbacks in the calling thread of control, which belongs to the rank and holds no lock.
  virtual void run() = 0;

  /// The callbacks of the calling thread's rank; null if none are expected, and the rank has no other thread.
  static RankCallbacks* expected_here() noexcept {
    const Identity* const mine = identity();
    if (mine == nullptr || mine->callbacks == nullptr) return nullptr;
    return mine->callbacks->expected_.load(std::memory_order_relaxed) % kParks > 0 ? mine->callbacks
                                                                                   : nullptr;
  }

  /// watch(): from now on the rank's threads of control tell the observer of their waits. unwatch(): no
  /// longer.
  void watch() noexcept { expected_.fetch_or(kWatched, std::memory_order_relaxed); }
  void unwatch() noexcept { expected_.fetch_and(~kWatched, std::memory_order_relaxed); }
  /// From now on the rank's fiber can be woken in the middle of a wait (interrupt.h).
  void park() noexcept { expected_.fetch_or(kParks, std::memory_order_relaxed); }
  static bool parks_here() noexcept {
    const Identity* const mine = identity();
    return mine != nullptr && mine->callbacks != nullptr &&
           (mine->callbacks->expected_.load(std::memory_order_relaxed) & kParks) != 0;
  }
  /// The observer, one for the process; set before the first rank is watched.
  CLUMP_HOST_API static WaitObserver* observer;

  /// Whether the calling thread of control does not simply wait: callbacks are expected, its rank has several
  /// threads, handles signals, or is watched.
  static bool waits_in_other_ways() noexcept {
    const Identity* const mine = identity();
    return mine != nullptr && mine->callbacks != nullptr &&
           mine->callbacks->expected_.load(std::memory_order_relaxed) != 0;
  }
  static bool watched_here() noexcept {
    const Identity* const mine = identity();
    return mine != nullptr && mine->callbacks != nullptr &&
           mine->callbacks->expected_.load(std::memory_order_relaxed) >= kWatched;
  }

 protected:
  ~RankCallbacks() = default;
  /// Called when there is a callback to run: wakes a thread of control of the rank that sleeps. Any thread.
  CLUMP_HOST_API void call() noexcept;

 private:
  friend class CallbackWait;
  // Flags in `expected_`, above the number.
  static constexpr int kWatched = 1 << 30;
  static constexpr int kParks = 1 << 29;
  static constexpr int kThreads = 1 << 28;  // counts as a large number of expected callbacks
  void find_waits() noexcept { expected_.fetch_or(kThreads, std::memory_order_relaxed); }
  std::atomic<int> expected_{0};  // relaxed: a thread expects callbacks before it starts what leads to them
  base::ShortMutex mutex_;
  CallbackWait* sleepers_ = nullptr;  // linked; on the sleepers' stacks
};

/// While one lives, the calling thread of control sleeps in a way that call() finds. Its owner checks any()
/// once more afterwards: call() may have chosen this thread.
class CallbackWait {
 public:
  CallbackWait(RankCallbacks* callbacks, Waiter& waiter);
  ~CallbackWait();
  CallbackWait(const CallbackWait&) = delete;
  CallbackWait& operator=(const CallbackWait&) = delete;

 private:
  friend class RankCallbacks;
  RankCallbacks* const callbacks_;
  Waiter& waiter_;
  CallbackWait* previous_ = nullptr;
  CallbackWait* next_ = nullptr;
};

}  // namespace clump::fiber
