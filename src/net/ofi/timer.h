// Has the network thread look soon at what an endpoint context holds back, if no other thread has by then.
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

  /// Readable, edge by edge, when it rings; -1: the system has given none.
  int descriptor() const { return descriptor_; }
  /// Any thread, after it has held something back. Where it is set already that is not postponed: under load
  /// it costs a system call in each kDelay.
  void set() {
    // acq_rel: pairs with rang(). Who finds it set and not rung yet is seen by the thread that it wakes.
    if (set_.exchange(true, std::memory_order_acq_rel)) return;
    const itimerspec once{{0, 0}, {0, kDelay}};
    ::timerfd_settime(descriptor_, 0, &once, nullptr);
  }
  /// Before the thread looks.
  void rang() { set_.exchange(false, std::memory_order_acq_rel); }

 private:
  // Nanoseconds. Virtual machines take some microseconds to set a timer, the more the sooner it rings.
  static constexpr long kDelay = 1'000'000;

  const int descriptor_;
  std::atomic<bool> set_{false};
};

}  // namespace clump::net::ofi
