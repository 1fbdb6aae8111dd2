// --gdb for a job on several hosts. gdb runs beside mpiexec, and a gdbserver on each host, which its proxy
// starts when all ranks there wait for gdb. They talk over a channel of the host's stream (channels.h).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/connection.h"
#include "common/poll_set.h"
#include "gdb/gdb.h"

namespace clump::mpiexec {

/// mpiexec's side, of its only thread; nothing blocks.
class GdbHosts {
 public:
  GdbHosts(std::size_t hosts, std::optional<std::string> commands)
      : commands_(std::move(commands)), hosts_(hosts) {}

  /// Finds gdb.
  base::Status open() { return gdb_.find("gdb"); }
  /// The channel of a host.
  void admit(std::size_t host, int socket) { hosts_[host].line = Connection(socket); }
  void add_to(tools::PollSet& all) const;
  /// Does what there is to do now: starts gdb when the ranks of all hosts wait for it.
  base::Status poll();
  bool is_running() const { return gdb_.is_running(); }
  /// gdb's exit code; 0 until it has ended.
  int code() const { return code_; }
  void end() { gdb_.end(); }

 private:
  struct Waiting {
    Connection line;
    std::vector<pid_t> processes;  ///< none until all of them wait
  };
  void read(Waiting& host);

  const std::optional<std::string> commands_;
  std::vector<Waiting> hosts_;
  Gdb gdb_;
  int code_ = 0;
};

/// A proxy's side: tells at the other end of `line` that these processes, all of this host, wait, and starts
/// gdbserver for them.
base::Status serve_gdb(Gdb& server, Connection line, const std::vector<pid_t>& processes);

}  // namespace clump::mpiexec
