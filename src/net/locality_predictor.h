// Whether a message of 32 to 128 KB is better sent through a staging buffer, or copied once, from user buffer
// to user buffer, by sender and receiver together.
#pragma once

#include <atomic>
#include <chrono>

#include "base/types.h"

namespace clump::net {

/// The prediction for messages to one rank. One copy by both cores is fast if neither has touched the data
/// since the last one: each core still has its half in its cache. Where ranks write what they send and read
/// what they receive, both cores need all of the data in turn, and two copies through a staging buffer
/// (staging_buffers.h) take less time. Which of these a program does is seen from how long a copy takes.
/// relaxed: these are hints only, and a lost count does no harm. Any thread.
class LocalityPredictor {
 public:
  /// Called by the sender of each message: whether it shall go through a staging buffer.
  bool wants_staging() noexcept {
    const int left = staged_left_.load(std::memory_order_relaxed);
    if (left == 0) return false;
    staged_left_.store(left - 1, std::memory_order_relaxed);
    return true;
  }
  /// Called by the receiver of a message that did not go through a staging buffer.
  void copied_together(Count bytes, std::chrono::nanoseconds time) noexcept {
    const bool fast = bytes >= kFast * time.count();
    const int slow = fast ? 0 : slow_.load(std::memory_order_relaxed) + 1;
    slow_.store(slow % kTries, std::memory_order_relaxed);
    if (slow == kTries) staged_left_.store(kStagedInARow, std::memory_order_relaxed);
  }

  /// After kTries slow copies in a row, kStagedInARow messages go through staging buffers before a copy is
  /// tried again. One slow copy is not enough: the first ones after staging buffers find the data where those
  /// have left them.
  static constexpr int kTries = 4, kStagedInARow = 100;
  /// Bytes per nanosecond. Measured with 64 and 128 KB: 40 (Intel Xeon) and 50 to 64 (AMD EPYC) out of the
  /// caches of two cores; 13, and 19 to 32, from one core's cache into the other's.
  static constexpr Count kFast = 32;

 private:
  std::atomic<int> slow_{0}, staged_left_{0};
};

}  // namespace clump::net
