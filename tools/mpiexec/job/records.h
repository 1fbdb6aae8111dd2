// What the ranks write down about their calls, and what becomes of it (--profile and --trace).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cluster/record_collector.h"
#include "command/options.h"
#include "pmi/job.h"
#include "profile/read.h"

namespace clump::mpiexec {

class Records {
 public:
  /// Whether and where the user wants to have files. Fails if one could not be written; nothing has been
  /// started yet.
  base::Status prepare(const Command& command, const pmi::Job& job);
  bool are_wanted() const { return profile_ || trace_; }

  // Where the ranks are on other hosts: they go from the proxies there to the process that the user has
  // started.
  void collect() { note_start(); }
  /// The channel of a host.
  void admit(std::size_t host, int socket) { collector_.admit(host, socket); }
  /// A proxy's side.
  void send_to(int mpiexec) { mpiexec_ = mpiexec; }
  /// As finish().
  bool finish_collecting(const pmi::Job& job, int exit_code);

  /// Memory for the ranks of this host; the descriptor is for its host processes.
  base::Status begin(const pmi::Job& job);
  int descriptor() const { return descriptor_; }
  /// The job is over: writes the files, and the table to stderr. A proxy sends what it has. False, and it is
  /// said, if a file could not be written.
  bool finish(const pmi::Job& job, int exit_code);

 private:
  void note_start();
  bool write(const pmi::Job& job, const std::vector<tools::profile::Source>& sources, int exit_code) const;

  bool profile_ = false, trace_ = false;
  std::string json_, page_, trace_file_;  ///< absolute
  std::string command_, program_, started_;
  int descriptor_ = -1;
  tools::profile::Moment start_;
  std::chrono::steady_clock::time_point began_;
  RecordCollector collector_;
  std::optional<RecordSender> sender_;  ///< a proxy's
  int mpiexec_ = -1;                    ///< the same: a socket
};

}  // namespace clump::mpiexec
