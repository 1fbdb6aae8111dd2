// --gdb: one gdb on all ranks. mpiexec starts it when all of them have come to where they wait for it, and
// the job is over when it ends. The terminal is gdb's. In a job on several hosts (gdb_hosts.h) gdb talks to a
// gdbserver on each of them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// `mpiexec --carry N`, which gdb starts: carries bytes between its standard input and output and the socket
/// N, which it has inherited, until one of them has gone.
inline constexpr const char* kCarry = "--carry";
int carry(int socket);

/// The processes of one host that wait for gdb.
struct Debuggees {
  std::vector<pid_t> processes;
  int server = -1;  ///< a socket, of which gdbserver has the other end; -1: they are on this host
};

/// gdb, or a host's gdbserver; of mpiexec's only thread.
class Gdb {
 public:
  Gdb() = default;
  ~Gdb();
  Gdb(const Gdb&) = delete;
  Gdb& operator=(const Gdb&) = delete;

  /// Fails where there is no such program ("gdb", "gdbserver"); before the job starts.
  base::Status find(const std::string& program);
  /// Attaches gdb to all of them, which there are. `commands`: a file of them, after which gdb ends; none:
  /// it is interactive.
  base::Status debug(const std::vector<Debuggees>& hosts, const std::optional<std::string>& commands);
  /// gdbserver, which attaches to what the gdb at the other end of `socket` tells it to.
  base::Status serve(int socket);
  bool has_started() const { return process_ > 0; }
  bool is_running() const { return ended_ >= 0; }
  /// Readable when it has ended; -1: it does not run.
  int descriptor() const { return ended_; }
  /// Takes note of its end: its exit code, once.
  std::optional<int> take_end();
  void end();

 private:
  template <typename Prepare>
  base::Status start(const std::vector<std::string>& words, Prepare prepare);

  std::string path_;
  pid_t process_ = -1;
  int ended_ = -1;
};

}  // namespace clump::mpiexec
