// How often a thread of control that polls offers its core to the kernel (polling.h). For the fiber layer
// only.
#pragma once

#include <chrono>
#include <cstdint>

namespace clump::fiber {

/// Of one thread of control, which alone calls it. `Clock` is a clock of namespace std::chrono, or a test's.
template <typename Clock>
class PollingPace {
 public:
  // Work is what takes longer than this from the end of one poll to the beginning of the next, with the two
  // looks at the clock: a loop around MPI_Test alone takes 25 to 40 ns.
  static constexpr std::chrono::nanoseconds kWork{80};
  // A rank that works between its polls offers its core once in this time, some two to four times what a
  // switch of processes with their caches costs; and so does one that has a core of its own.
  static constexpr std::chrono::microseconds kBetweenOffers{10};
  // Of so many polls of such a rank one looks at the clock.
  static constexpr int kPollsPerTime = 4;

  /// Called before a poll looks.
  void note_look() noexcept {
    if (ended_ == typename Clock::time_point()) return;
    works_ = Clock::now() - ended_ > kWork;
    if (works_) unmeasured_ = kPollsPerTime - 1;
    ended_ = {};
  }

  /// Called after a poll that has found nothing: calls `offer()`, which gives the core to others, if it is
  /// time. `spins`: the thread has a core of its own.
  template <typename Offer>
  void end_poll(bool spins, Offer offer) noexcept {
    if (unmeasured_ > 0) {
      --unmeasured_;
      return;
    }
    typename Clock::time_point now = Clock::now();
    if (!(works_ || spins) || now - offered_ > kBetweenOffers) {
      offer();
      ++offers_;
      offered_ = now = Clock::now();
    }
    if (spins)
      unmeasured_ = kPollsPerTime - 1;
    else
      ended_ = now;
  }

  /// How often the core was offered.
  std::uint64_t offers() const noexcept { return offers_; }

 private:
  // When the last poll ended, if the time to the next one is to be measured.
  typename Clock::time_point ended_;
  typename Clock::time_point offered_;  // when the core was offered the last time, and had again
  int unmeasured_ = 0;                  // so many polls more do not look at the clock
  bool works_ = false;                  // there was work before the last poll that was measured
  std::uint64_t offers_ = 0;
};

}  // namespace clump::fiber
