#include "cluster/ending.h"

#include <algorithm>
#include <csignal>

namespace clump::mpiexec {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAnswer{1000};      ///< so long may ranks take to tell where they are
constexpr milliseconds kGraceToEnd{5500};  ///< somewhat more than their proxies give them after a signal
constexpr milliseconds kEndOfRanks{1500};  ///< that nothing is waited for

}  // namespace

Ending::Ending(int timeout_seconds) {
  if (timeout_seconds > 0) times_.timeout = Clock::now() + std::chrono::seconds(timeout_seconds);
}

void Ending::begin(int why, Ranks ranks) {
  const auto now = Clock::now();
  times_.timeout.reset();
  if (has_begun()) {
    times_ = {.timeout = {}, .tell = {}, .terminate = {}, .kill = now};
    return;
  }
  why_ = why;
  const bool is_at_once = why == SIGALRM || why == SIGPIPE;
  times_.terminate = now;
  if (ranks.can_be_told) {
    times_.tell = ranks.are_asked ? now + kAnswer : now;
    times_.terminate = *times_.tell + (is_at_once ? kEndOfRanks : kGraceToEnd);
  }
}

void Ending::limit(std::chrono::milliseconds grace) {
  if (!has_begun()) times_.terminate = Clock::now() + grace;
}

bool Ending::take(std::optional<Clock::time_point>& time) {
  if (!time || Clock::now() < *time) return false;
  time.reset();
  return true;
}

bool Ending::is_timeout() { return take(times_.timeout); }

Ending::Step Ending::next() {
  if (take(times_.tell)) return Step::kTell;
  if (take(times_.terminate)) return Step::kTerminate;
  return take(times_.kill) ? Step::kKill : Step::kNothing;
}

std::optional<Ending::Clock::time_point> Ending::alarm() const {
  std::optional<Clock::time_point> next;
  for (const auto& time : {times_.timeout, times_.tell, times_.terminate, times_.kill})
    if (time) next = next ? std::min(*next, *time) : time;
  return next;
}

}  // namespace clump::mpiexec
