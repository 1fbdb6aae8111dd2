// Whether messages of 16 to 128 KB between two workers are better sent through staging buffers, or copied
// once, from user buffer to user buffer, by sender and receiver together.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/types.h"

namespace clump::net {

/// The prediction for the messages between two workers, in both directions: what one direction does decides
/// where the other one finds its data.
///
/// One copy by both cores is fast if neither has touched the data since the last one: each core still has its
/// half in its cache. Where ranks write what they send and read what they receive, two copies through a
/// staging buffer (staging_buffers.h) mostly take less time, of which a part is the program's own: the time
/// to write lines that the other core has read. So what is compared is the time from message to message, not
/// that of a copy. Both ways are tried in turn, some messages long; the faster one is kept and tried against
/// the other one again later, ever more seldom while it stays the faster one. Windows in between show whether
/// the program does something else now: then the next trial comes early.
///
/// Any thread. relaxed where nothing is said: a count that comes late does no harm.
class alignas(64) LocalityPredictor {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Called by the sender of each message: whether it shall go through a staging buffer. `now()` is a Time;
  /// called seldom.
  template <typename Now>
  bool wants_staging(Count bytes, Now now) noexcept {
    const std::uint64_t message = kMessage + static_cast<std::uint64_t>(bytes);
    const std::uint64_t sent = sent_.fetch_add(message, std::memory_order_relaxed) + message;
    if (is_due(sent)) [[unlikely]]
      look(sent, now());
    return staged_.load(std::memory_order_relaxed);
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
  enum class Phase : std::uint8_t { kRest, kGlance, kKept, kSettling, kOther };

  static constexpr int kByteBits = 40;
  static constexpr std::uint64_t kMessage = std::uint64_t{1} << kByteBits;
  static constexpr std::uint64_t kBytes = kMessage - 1;
  static constexpr std::uint32_t kMost = (1u << (64 - kByteBits)) - 1;  // of the count, which goes around

  static std::uint32_t messages(std::uint64_t sent) { return static_cast<std::uint32_t>(sent >> kByteBits); }
  bool is_due(std::uint64_t sent) const noexcept {
    return ((messages(sent) - due_.load(std::memory_order_relaxed)) & kMost) <= kMost / 2;
  }

  void look(std::uint64_t sent, Time now) noexcept {
    // acquire: pairs with the release below.
    if (looks_.exchange(true, std::memory_order_acquire)) return;
    if (is_due(sent)) due_.store((messages(sent) + go_on(sent, now)) & kMost, std::memory_order_relaxed);
    looks_.store(false, std::memory_order_release);
  }

  /// Returns how many messages are to be sent before the next call.
  std::uint32_t go_on(std::uint64_t sent, Time now) noexcept {
    switch (phase_) {
      case Phase::kRest:
        if (rested_ < rest_) {
          phase_ = Phase::kGlance;
          return begin_window(sent, now);
        }
        return begin_trial(sent, now);
      case Phase::kGlance:
        if (has_changed(window(sent, now))) return begin_trial(sent, now);
        return go_on_resting();
      case Phase::kKept:
        kept_ = std::min(kept_, window(sent, now));
        if (windows_ < kWindows) return begin_window(sent, now);
        turn();
        phase_ = Phase::kSettling;
        return kSettling;
      case Phase::kSettling:
        windows_ = 0;
        phase_ = Phase::kOther;
        return begin_window(sent, now);
      case Phase::kOther:
        other_ = std::min(other_, window(sent, now));
        if (windows_ < kWindows && other_ < kHopeless * kept_) return begin_window(sent, now);
        break;
    }
    decide();
    return go_on_resting();
  }

  std::uint32_t go_on_resting() noexcept {
    phase_ = Phase::kRest;
    rested_ += kLookEvery + kWindow;
    return kLookEvery;
  }
  std::uint32_t begin_trial(std::uint64_t sent, Time now) noexcept {
    kept_ = other_ = std::numeric_limits<double>::infinity();
    windows_ = 0;
    phase_ = Phase::kKept;
    return begin_window(sent, now);
  }

  bool has_changed(double time) noexcept {
    const int now = time > kChanged * usual_ ? 1 : kChanged * time < usual_ ? -1 : 0;
    changed_ = now != 0 && now == change_ ? changed_ + 1 : now != 0 ? 1 : 0;
    change_ = now;
    return changed_ >= kWindowsToChange && rested_ >= rest_ / kEarliest;
  }

  /// The other way has just been tried.
  void decide() noexcept {
    const bool other_is_staged = staged_.load(std::memory_order_relaxed);
    const bool is_better =
        other_is_staged ? other_ < kept_ * (1 + kClearly) : other_ * (1 + kClearly) < kept_;
    rest_ = is_better ? kLeastRest : std::min(2 * rest_, kMostRest);
    if (!is_better) turn();
    usual_ = is_better ? other_ : kept_;
    rested_ = 0;
    changed_ = change_ = 0;
  }

  void turn() noexcept {
    staged_.store(!staged_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  std::uint32_t begin_window(std::uint64_t sent, Time now) noexcept {
    begin_sent_ = sent;
    begin_ = now;
    return kWindow;
  }
  /// The nanoseconds that a byte has taken since begin_window().
  double window(std::uint64_t sent, Time now) noexcept {
    ++windows_;
    const auto bytes = static_cast<double>((sent - begin_sent_) & kBytes);
    return std::chrono::duration<double, std::nano>(now - begin_).count() / bytes;
  }

  std::atomic<std::uint64_t> sent_{0};  // messages << kByteBits, and their bytes
  std::atomic<std::uint32_t> due_{kSettling};
  // Not at first. A send above 32 KB that is staged ends before its receive. A program that relies on this
  // has a deadlock with other libraries, and its first messages shall show it.
  std::atomic<bool> staged_{false};
  std::atomic<bool> looks_{false};  // a thread is in look(), and has the rest
  Phase phase_ = Phase::kRest;
  int windows_ = 0;
  std::uint32_t rest_ = kLeastRest, rested_ = kLeastRest;  // messages; the first trial comes at once
  int change_ = 0, changed_ = 0;  // in which direction, and how many windows in a row
  std::uint64_t begin_sent_ = 0;
  Time begin_;
  double kept_ = 0, other_ = 0, usual_ = 0;  // nanoseconds a byte
};

}  // namespace clump::net
