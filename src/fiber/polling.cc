#include "fiber/polling.h"

#include <chrono>

#include "fiber/completion.h"
#include "fiber/exploration.h"
#include "fiber/polling_pace.h"

namespace clump::fiber {

namespace {

constexpr int kEmptyPollsBeforeYield = 4;

using Pace = PollingPace<std::chrono::steady_clock>;

Pace& pace() noexcept {
  constinit static thread_local Pace mine;
  return mine;
}

}  // namespace

void detail::note_look() noexcept { pace().note_look(); }

std::uint64_t offers_after_empty_polls() noexcept { return pace().offers(); }

void yield_after_empty_poll() {
  if (Fiber* const self = this_fiber()) {
    if (exploration::is_on) return exploration::step_aside(*self);
    if (++self->empty_polls < kEmptyPollsBeforeYield) return;
    self->empty_polls = 0;
    yield();
    // What is polled for may also come from a process or thread that needs this core.
    if (!cores_are_offered && !cores_are_wanted()) return;
  }
  pace().end_poll(is_spinning(), give_core_away);
}

}  // namespace clump::fiber
