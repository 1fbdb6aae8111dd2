#include "output/flush.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/poll_set.h"

namespace clump::mpiexec {

namespace {

using Clock = std::chrono::steady_clock;

std::size_t kept(const std::vector<OutputBuffer*>& buffers) {
  std::size_t bytes = 0;
  for (const OutputBuffer* buffer : buffers) bytes += buffer->kept();
  return bytes;
}

/// Signals that ask for the end, of which `last` is the latest wish. False if none has come.
bool take_signals(SignalLine& signals, EndRequests& requests, EndRequests::Kind& last) {
  bool any = false;
  siginfo_t info;
  while (signals.next(info)) {
    if (info.si_signo == SIGTSTP) ::raise(SIGSTOP);
    if (!EndRequests::ends_job(info.si_signo)) continue;
    const EndRequests::Kind kind = requests.take(info.si_signo, info.si_code > 0, Clock::now());
    if (kind == EndRequests::Kind::kSame) continue;
    last = kind;
    any = true;
  }
  return any;
}

/// When a reader that takes nothing has been waited for long enough; nothing: never.
std::optional<Clock::time_point> give_up_at(const FlushLimits& limits, Clock::time_point silent_since) {
  if (limits.is_ended) return silent_since + kSilence;
  if (limits.until) return std::max(*limits.until, silent_since + kSilence);
  return {};
}

}  // namespace

FlushEnd flush(const std::vector<OutputBuffer*>& buffers, SignalLine& signals, EndRequests& requests,
               FlushLimits limits) {
  using std::chrono::milliseconds;
  std::size_t left = kept(buffers);
  for (auto silent_since = Clock::now(); left > 0;) {
    tools::PollSet all;
    all.add(signals.descriptor());
    for (const OutputBuffer* buffer : buffers) buffer->add_to(all);
    std::optional<milliseconds> most;
    const auto end = give_up_at(limits, silent_since);
    if (end) most = std::chrono::ceil<milliseconds>(*end - Clock::now());
    if (signals.descriptor() < 0) most = std::min(most.value_or(SignalLine::kPause), SignalLine::kPause);
    all.wait(tools::poll_timeout(most));
    for (OutputBuffer* buffer : buffers) buffer->write();
    const std::size_t before = std::exchange(left, kept(buffers));
    const auto now = Clock::now();
    if (left < before) silent_since = now;
    if (EndRequests::Kind kind{}; take_signals(signals, requests, kind)) {
      if (kind == EndRequests::Kind::kAgain && left > 0) return FlushEnd::kSignal;
      limits.is_ended = true;
      silent_since = now;
    } else if (left > 0 && left == before && end && now >= *end) {
      return limits.is_ended ? FlushEnd::kSilence : FlushEnd::kTimeout;
    }
  }
  return FlushEnd::kWritten;
}

std::size_t discard(const std::vector<OutputBuffer*>& buffers) {
  const std::size_t bytes = kept(buffers);
  for (OutputBuffer* buffer : buffers) buffer->discard();
  return bytes;
}

}  // namespace clump::mpiexec
