// --gdb: one gdb on all ranks. mpiexec starts it when all of them have come to where they wait for it, and
// the job is over when it ends. The terminal is gdb's.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

class Gdb {
 public:
  Gdb() = default;
  ~Gdb();
  Gdb(const Gdb&) = delete;
  Gdb& operator=(const Gdb&) = delete;

  /// Fails where there is no gdb; before the job starts.
  base::Status find();
  /// Attaches it to these processes. `commands`: a file of them, after which gdb ends; none: it is
  /// interactive.
  base::Status start(const std::vector<pid_t>& processes, const std::optional<std::string>& commands);
  bool has_started() const { return process_ > 0; }
  bool is_running() const { return ended_ >= 0; }
  /// Readable when it has ended; -1: it does not run.
  int descriptor() const { return ended_; }
  /// Takes note of its end: its exit code, once.
  std::optional<int> take_end();
  void end();

 private:
  std::string path_;
  pid_t process_ = -1;
  int ended_ = -1;
};

}  // namespace clump::mpiexec
