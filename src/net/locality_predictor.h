// How messages of 32 to 128 KB travel between two workers.
#pragma once

#include <atomic>
#include <chrono>

#include "base/types.h"

namespace clump::net {

/// Of those to one rank. Copied once, by sender and receiver together, they are fast if nobody has touched
/// their data since the last one, because each core has its half in its cache still. Where ranks write what
/// they send and read what they get, both cores want all of it in turn, and two copies by way of a staging
/// buffer (staging_buffers.h) take less. Nobody knows what a program does, but how long a copy takes.
/// relaxed: all of it is hints, and a lost count does no harm. Any thread.
class LocalityPredictor {
 public:
  /// By the sender of each: whether it shall go in a staging buffer.
  bool wants_staging() noexcept {
    const int left = staged_left_.load(std::memory_order_relaxed);
    if (left == 0) return false;
    staged_left_.store(left - 1, std::memory_order_relaxed);
    return true;
  }
  /// By the receiver of one that did not.
  void copied_together(Count bytes, std::chrono::nanoseconds time) noexcept {
    const bool fast = bytes >= kFast * time.count();
    const int slow = fast ? 0 : slow_.load(std::memory_order_relaxed) + 1;
    slow_.store(slow % kTries, std::memory_order_relaxed);
    if (slow == kTries) staged_left_.store(kStagedInARow, std::memory_order_relaxed);
  }

  /// So many slow ones in a row, and so many go in staging buffers before it is tried again. One is not
  /// enough: the first ones after staging buffers find the data where those have left it.
  static constexpr int kTries = 4, kStagedInARow = 100;
  /// Bytes in a nanosecond. Measured of 64 and 128 KB: out of the caches of two cores 40 (Intel Xeon) and 50
  /// to 64 (AMD EPYC), from one into the other's 13, and 19 to 32.
  static constexpr Count kFast = 32;

 private:
  std::atomic<int> slow_{0}, staged_left_{0};
};

}  // namespace clump::net
