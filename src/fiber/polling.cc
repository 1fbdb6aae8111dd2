#include "fiber/polling.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "fiber/completion.h"
#include "fiber/exploration.h"

namespace clump::fiber {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEmptyPollsBeforeYield = 4;

// Work is what takes longer than this from the end of one poll to the beginning of the next, with the two
// looks at the clock: a loop around MPI_Test alone takes 25 to 40 ns.
constexpr std::chrono::nanoseconds kWork{80};
// A rank that works between its polls offers its core once in this time, some two to four times what a switch
// of processes with their caches costs; and so does one that has a core of its own.
constexpr std::chrono::microseconds kBetweenOffers{10};
// Of so many polls of such a rank one looks at the clock.
constexpr int kPollsPerTime = 4;

/// Of a thread of control.
struct Pace {
  Clock::time_point ended;    // when the last poll ended, if the time to the next one is to be measured
  Clock::time_point offered;  // when the core was offered the last time, and had again
  int unmeasured = 0;         // so many polls more do not look at the clock
  bool works = false;         // there was work before the last poll that was measured
  std::uint64_t offers = 0;

  void note_look() noexcept {
    if (ended == Clock::time_point()) return;
    works = Clock::now() - ended > kWork;
    if (works) unmeasured = kPollsPerTime - 1;
    ended = {};
  }

  /// Offers the core, if it is time.
  void end_poll() noexcept {
    if (unmeasured > 0) {
      --unmeasured;
      return;
    }
    const bool spins = is_spinning();
    Clock::time_point now = Clock::now();
    if (!(works || spins) || now - offered > kBetweenOffers) {
      // The kernel's sched_yield, not the interposed one, which lets other fibers run.
      ::syscall(SYS_sched_yield);
      ++offers;
      offered = now = Clock::now();
    }
    if (spins)
      unmeasured = kPollsPerTime - 1;
    else
      ended = now;
  }
};

Pace& pace() noexcept {
  constinit static thread_local Pace mine;
  return mine;
}

}  // namespace

void detail::note_look() noexcept { pace().note_look(); }

std::uint64_t offers_after_empty_polls() noexcept { return pace().offers; }

void yield_after_empty_poll() {
  if (Fiber* const self = this_fiber()) {
    if (exploration::is_on) return exploration::step_aside(*self);
    if (++self->empty_polls < kEmptyPollsBeforeYield) return;
    self->empty_polls = 0;
    yield();
    // What is polled for may also come from a process or thread that needs this core.
    if (!cores_are_offered && !cores_are_wanted()) return;
  }
  pace().end_poll();
}

}  // namespace clump::fiber
