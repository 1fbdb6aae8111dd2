// Whether the monitor wakes by itself, and what a worker that wakes has to do about it (monitor.cc). By
// itself for watching_test.cc.
#pragma once

#include <atomic>

namespace clump::fiber {

/// While all workers sleep, the monitor has nothing to watch, and sleeps until it is told. A worker that
/// wakes and the monitor that goes to sleep never miss each other: tests/models/watching_model.cc.
class Watching {
 public:
  /// Returns whether the monitor has to wake by itself. False: `all_asleep()` was true, and for the next
  /// worker that wakes begin() is true. By the monitor.
  template <typename AllAsleep>
  bool goes_on(AllAsleep all_asleep) {
    // First the store, then the look. acquire: pairs with the release in begin(), so that the look finds a
    // worker awake that has called begin() before. An exchange, because a store would not read what begin()
    // has stored.
    on_.exchange(false, std::memory_order_acq_rel);
    if (all_asleep()) return false;
    on_.store(true, std::memory_order_relaxed);  // relaxed: if begin() comes in between, the monitor is told
    return true;
  }
  /// Called after a worker has woken. True: the caller has to tell the monitor. Any thread.
  bool begin() noexcept {
    // release: pairs with the acquire in goes_on().
    return !on_.exchange(true, std::memory_order_acq_rel);
  }

 private:
  std::atomic<bool> on_{false};
};

}  // namespace clump::fiber
