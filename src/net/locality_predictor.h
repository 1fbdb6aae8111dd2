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

  // In messages.
  static constexpr std::uint32_t kWindow = 16;    ///< measured together
  static constexpr std::uint32_t kSettling = 8;   ///< until the data lies where the new way leaves it
  static constexpr std::uint32_t kLeastRest = 128, kMostRest = 4096;  ///< between two trials
  static constexpr std::uint32_t kLookEvery = 112;  ///< between two windows of a rest
  /// Windows in a row that take longer, or less, by this factor than those of the last trial: the program
  /// does something else now. No trial comes before this part of the rest.
  static constexpr double kChanged = 1.25;
  static constexpr int kWindowsToChange = 2;
  static constexpr std::uint32_t kEarliest = 4;
  /// Of each way. The fastest one counts, because a window may have a pause of the program in it.
  static constexpr int kWindows = 3;
  /// Copying together has to be faster by this part: without a difference that can be measured, programs that
  /// compute touch their data.
  static constexpr double kClearly = 1.0 / 16;
  /// A trial ends at its first window if that takes so many times as long.
  static constexpr double kHopeless = 1.5;

 private:
  std::atomic<int> slow_{0}, staged_left_{0};
};

}  // namespace clump::net
