// Forwards the output of a process line by line, so that lines of different ranks never mix.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/line_prefix.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

class CollapsedScreen;

/// Where lines go.
struct LineTarget {
  int descriptor;                     ///< 1 or 2
  CollapsedScreen* screen = nullptr;  ///< shows them instead, if there is one
  OutputBuffer* copy = nullptr;       ///< of a file that gets them, too, as they are
  OutputBuffer* out = nullptr;        ///< null: output_buffer(descriptor)
  bool shows_beginnings = true;  ///< of lines: the process has mpiexec's stdin, and may ask for something
};

class LineForwarder {
 public:
  using Clock = std::chrono::steady_clock;
  /// A process that has written the beginning of a line, and nothing for so long, waits for something: the
  /// user for its prompt.
  static constexpr std::chrono::milliseconds kPause{100};
  /// Unless it has written so much before: then the end of a buffer is in the middle of a line, and the rest
  /// comes with the next buffer.
  static constexpr std::size_t kBufferSize = 4096;

  /// `prefix` goes in front of each line, with the number of this rank.
  explicit LineForwarder(LineTarget target, const base::LinePrefix& prefix = {}, int rank = 0)
      : target_(target), prefix_(prefix), rank_(rank) {}

  /// Writes all lines that are complete with these bytes.
  void add(std::string_view bytes, Clock::time_point now);
  /// Writes the beginning of a line that has waited for kPause. The rest goes on behind it, if no other
  /// writer has come in between; a line break is between them then.
  void show_beginning(Clock::time_point now);
  /// When that will be; nothing: nothing waits.
  std::optional<Clock::time_point> next() const;
  /// The stream has ended: writes what is left, with the end of line if others' output may follow.
  void finish();
  /// What these lines are written to has no room: no more is to be added now.
  bool is_blocked() const { return out().is_full() || (target_.copy != nullptr && target_.copy->is_full()); }

 private:
  OutputBuffer& out() const {
    return target_.out != nullptr ? *target_.out : output_buffer(target_.descriptor);
  }
  std::string prefixed(std::string_view lines) const;
  void write(std::string_view lines);

  LineTarget target_;
  base::LinePrefix prefix_;
  int rank_;
  std::string partial_;       ///< of a line; what is shown of it is not in here
  std::size_t burst_ = 0;     ///< bytes that have come without a pause between them
  Clock::time_point last_{};  ///< when the last ones came
};

}  // namespace clump::mpiexec
