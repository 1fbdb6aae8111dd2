// Forwards the output of a process line by line, so that lines of different ranks never mix.
#pragma once

#include <string>
#include <string_view>

namespace clump::mpiexec {

class CollapsedScreen;

/// Blocks while the descriptor does. What cannot be written is lost, and write_failure() tells.
void write_all(int descriptor, std::string_view bytes);

struct WriteFailure {
  int descriptor;
  int error;  ///< errno
};
/// The first one; null: all was written. Owned by mpiexec's only thread.
const WriteFailure* write_failure();
/// From now on a closed pipe, and a file's limit, are errors of write() and end no process. For children that
/// is to be undone: they inherit the calling thread's mask.
void block_signals_of_writes();

/// Where lines go.
struct LineTarget {
  int descriptor;                     ///< 1 or 2
  CollapsedScreen* screen = nullptr;  ///< shows them instead, if there is one
  int copy = -1;                      ///< of a file that gets them, too, as they are
};

class LineForwarder {
 public:
  /// `prefix` goes in front of each line.
  LineForwarder(LineTarget target, std::string prefix) : target_(target), prefix_(std::move(prefix)) {}

  /// Writes all lines that are complete with these bytes.
  void add(std::string_view bytes);
  /// The stream has ended: writes what is left, with the end of line if others' output may follow.
  void finish();

 private:
  void write_lines(std::string_view lines);

  LineTarget target_;
  std::string prefix_;
  std::string partial_;
};

}  // namespace clump::mpiexec
