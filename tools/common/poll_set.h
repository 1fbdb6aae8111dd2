// Descriptors that a thread waits for at once: how every loop of the tools sleeps. A loop makes a set anew
// each turn, since what it waits for changes; each object that has descriptors adds its own.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <optional>
#include <vector>

namespace clump::tools {

/// A time as poll() takes it: without end if there is none, and INT_MAX milliseconds at most, which are 24.8
/// days. A loop looks at its clock then, and waits once more.
inline int poll_timeout(std::optional<std::chrono::milliseconds> left) {
  if (!left) return -1;
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left->count(), 0, INT_MAX));
}

class PollSet {
 public:
  /// Nothing if `descriptor` is negative. Without events only its end or an error is waited for.
  void add(int descriptor, short events = POLLIN) {
    if (descriptor >= 0) all_.push_back({descriptor, events, 0});
  }
  /// Sleeps until a descriptor is ready, or for so long; negative: without end. True if one is ready; false
  /// also if a signal has ended the sleep. `failed()` after it: poll() cannot be called.
  bool wait(int milliseconds) {
    const int ready = ::poll(all_.data(), all_.size(), milliseconds);
    failed_ = ready < 0 && errno != EINTR;
    if (ready <= 0)
      for (pollfd& one : all_) one.revents = 0;
    return ready > 0;
  }
  bool failed() const { return failed_; }
  /// After wait(): whether there is anything to read, room to write, an end or an error.
  bool is_ready(int descriptor) const {
    return std::any_of(all_.begin(), all_.end(),
                       [descriptor](const pollfd& one) { return one.fd == descriptor && one.revents != 0; });
  }

 private:
  std::vector<pollfd> all_;
  bool failed_ = false;
};

}  // namespace clump::tools
