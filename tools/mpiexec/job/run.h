// Runs a job to its end: starts it, passes on signals and output, and reports the first failure.
#pragma once

#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command/options.h"
#include "common/poll_set.h"
#include "hang/hang_detector.h"
#include "job/records.h"
#include "plan/plan.h"

namespace clump::mpiexec {

/// What the part of a job on one host tells its news, and is asked by: this mpiexec itself, if the job has
/// one host, or the one that has started this proxy (cluster/proxy.cc). Of mpiexec's only thread, or the
/// proxy's main thread; nothing blocks.
class ControlLink {
 public:
  virtual ~ControlLink() = default;
  /// Before all others. Once more if the job is described anew.
  virtual void begin(const pmi::Job&) {}
  virtual void add_to(tools::PollSet&) const {}
  virtual std::optional<std::chrono::steady_clock::time_point> alarm() const { return {}; }
  virtual void send(ControlReply reply) = 0;
  virtual bool next(ControlMessage& message) = 0;
  /// Where it is not, so is the job.
  virtual bool is_there() const { return true; }

  // Where the ranks are (hang_detector.h): asked and found by the mpiexec that the user has started.
  virtual bool ask() { return false; }
  virtual HangDetector::Finding poll(std::string&) { return HangDetector::Finding::kNothing; }
  virtual std::string text() const { return {}; }

  int input = STDIN_FILENO;  ///< what the ranks read; -1: nothing. It is given away
  int gdb = -1;              ///< a proxy's: the other end is mpiexec's gdb. It is given away
  std::vector<int> own;      ///< what the processes of ranks, and their supervisor, shall not have
};

/// Blocks until nothing of the job is left. Returns mpiexec's exit code.
int run(const Command& command, const Plan& plan, Records& records);
/// A proxy's part of the job.
int run(const Command& command, const Plan& plan, Records& records, ControlLink& link);

}  // namespace clump::mpiexec
