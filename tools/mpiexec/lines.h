// Forwards the output of a plain process line by line, so that lines of different ranks never mix.
#pragma once

#include <string>
#include <string_view>

namespace clump::mpiexec {

class LineForwarder {
 public:
  /// `prefix` goes in front of each line; lines are written to `target`.
  LineForwarder(int target, std::string prefix) : target_(target), prefix_(std::move(prefix)) {}

  /// Writes all lines that are complete with these bytes.
  void add(std::string_view bytes);
  /// The stream has ended: writes what is left, with the end of line if others' output may follow.
  void finish();

 private:
  void write_lines(std::string_view lines);

  int target_;
  std::string prefix_;
  std::string partial_;
};

}  // namespace clump::mpiexec
