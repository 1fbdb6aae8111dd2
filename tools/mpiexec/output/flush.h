// The end of a job's output: what mpiexec has read and not written yet.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "job/end_requests.h"
#include "job/signal_line.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

/// A reader that takes nothing is waited for as long as it wants; but only so long if one of these is true.
constexpr std::chrono::seconds kSilence{2};
struct FlushLimits {
  /// It is later than that (--timeout); nothing: there is no such time.
  std::optional<std::chrono::steady_clock::time_point> until;
  /// The job was ended from outside, or as a reader of its output has gone. A signal makes it true.
  bool is_ended = false;
};

enum class FlushEnd : std::uint8_t {
  kWritten,  ///< all of it, or what could not be is told by write_failure()
  kTimeout,  ///< it is later than `until`, and nothing was read for kSilence
  kSilence,  ///< nothing was read for kSilence, and the job was ended from outside
  kSignal,   ///< the user asks for the end a second time
};

/// Waits until all of it is written, and listens to signals.
FlushEnd flush(const std::vector<OutputBuffer*>& buffers, SignalLine& signals, EndRequests& requests,
               FlushLimits limits);

/// The bytes that they keep, which are lost then.
std::size_t discard(const std::vector<OutputBuffer*>& buffers);

}  // namespace clump::mpiexec
