// prterun's stdout: first its own explanations of why a job does not begin, then, once it has begun, what
// ranks write. mpiexec passes on the latter and blocks for neither.
#pragma once

#include <string>
#include <vector>

#include "common/poll_set.h"

namespace clump::mpiexec {

class LineForwarder;

class HeldOutput {
 public:
  /// Reads `descriptor`, which is non-blocking, and closes it in the end.
  void read_from(int descriptor) { in_ = descriptor; }
  /// In place of stdout.
  void write_to(LineForwarder& lines) { lines_ = &lines; }
  void add_to(tools::PollSet& all) const;
  /// Whatever has come, and comes, is of ranks.
  void release() { is_released_ = true; }
  /// Moves what can be moved now, to stdout's buffer: a megabyte at most, so that the caller hears signals.
  void transfer();
  /// prterun has ended: moves all that is there.
  void finish();
  /// What is still held: no rank has written it.
  std::string unreleased() const { return is_released_ ? std::string() : held_; }
  /// Why stdout cannot be written; 0: it can.
  static int error();

 private:
  bool has_room() const;
  /// How much came; 0: there is nothing now.
  std::size_t read();
  void write();

  int in_ = -1;
  LineForwarder* lines_ = nullptr;
  bool is_released_ = false;
  std::string held_;
};

}  // namespace clump::mpiexec
