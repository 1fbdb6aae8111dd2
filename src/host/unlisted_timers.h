// Timers of timer_create() where the kernel has no /proc/self/timers. Not for other layers.
#pragma once

#include <vector>

namespace clump::host {

/// Whether a timer of this process is set: to send a signal after some time or some processor time.
bool is_set(int timer);

/// Knows all timers of the process by their numbers, which the kernel gives one after the other, and does not
/// give again. One thread.
class UnlistedTimers {
 public:
  /// Whether any timer is set, whatever it counts and does. True if that cannot be known.
  bool any_is_set();

 private:
  bool find_new_ones();

  int next_ = 0;            // all timers with lower numbers are in there_, or deleted
  std::vector<int> there_;  // some may be deleted
};

}  // namespace clump::host
