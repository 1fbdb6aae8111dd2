// A timer by which the network thread soon looks at what an endpoint context holds back, if no other thread
// has by then.
#pragma once

#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>

namespace clump::net::ofi {

class Timer {
 public:
  Timer() : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}
  ~Timer() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Becomes readable, edge-triggered, when the timer expires; -1: the system has given none.
  int descriptor() const { return descriptor_; }
  /// Sets the timer. Any thread, after it has held something back. If the timer is set already, that time
  /// stays: under load this costs one system call in each kDelay.
  void set() {
    // acq_rel: pairs with rang(). If this thread finds the timer set and not rung yet, the network thread,
    // which the timer wakes, sees what this thread has held back.
    if (set_.exchange(true, std::memory_order_acq_rel)) return;
    const itimerspec once{{0, 0}, {0, kDelay}};
    ::timerfd_settime(descriptor_, 0, &once, nullptr);
  }
  /// Called by the network thread before it looks.
  void rang() { set_.exchange(false, std::memory_order_acq_rel); }

 private:
  // Nanoseconds. A virtual machine takes some microseconds to set a timer, and more if the timer expires
  // sooner.
  static constexpr long kDelay = 1'000'000;

  const int descriptor_;
  std::atomic<bool> set_{false};
};

}  // namespace clump::net::ofi
