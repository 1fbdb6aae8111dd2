// What starts Clump on other hosts: ssh, or another launcher, each a row of a table.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "common/wish.h"

namespace clump::tools {

struct LauncherRow;

/// What the user says of launchers.
struct LauncherChoice {
  Wish name;     ///< a row's; none: `usual`
  Wish program;  ///< in place of the row's: words, and alternatives between colons
  std::string usual = {};
  std::string prefix = {};  ///< where Clump is on other hosts; empty: not said
};

/// Adds what variables say: Clump's own count more than Hydra's, and these more than Open MPI's.
LauncherChoice with_variables(LauncherChoice options);

/// Fails if no launcher has this name.
base::Status check_launcher(const Wish& name);

class Launcher {
 public:
  /// Fails if its program is not here, or if it cannot reach other hosts.
  base::Status find(const LauncherChoice& choice);
  /// Its standard input and output lead to the other host. If not, that host has to connect.
  bool gives_stream() const;
  /// If not, the user starts what is to run on other hosts.
  bool has_program() const { return !program_.empty(); }
  /// Fails if it is known that it cannot reach one of these hosts.
  base::Status check_hosts(const std::vector<std::string>& names) const;
  /// Runs Clump's mpiexec on another host, with these words, and is a stream to it by its standard input and
  /// output. Looks for it below `prefix`, where this host has it, and in PATH of that host.
  std::vector<std::string> command(const std::string& host, const std::vector<std::string>& words) const;
  /// The part before that: "ssh -x HOST", for the user to try.
  std::string command_before(const std::string& host) const;
  /// Where the user says that mpiexec is on other hosts, or where it is here.
  std::string program_there() const;
  /// "ssh", as the user has named it; "ssh (HYDRA_LAUNCHER)" if a variable has.
  const std::string& name() const { return name_; }
  /// It may read a password from the terminal.
  bool asks_user() const;

 private:
  std::vector<std::string> words_before(const std::string& host) const;

  const LauncherRow* row_ = nullptr;
  std::vector<std::string> program_;
  std::string name_, prefix_;
};

/// The environment variable that says how many hosts mpiexec, or a proxy, starts itself; 32 if it is not set.
inline constexpr const char* kWidthVariable = "CLUMP_TREE_WIDTH";
base::Status find_width(int& width);

/// Why the command of a launcher has ended with this code before Clump's mpiexec has said anything; `said` is
/// what has come instead.
struct StartFailure {
  bool is_reached = false;  ///< the host has answered, but has no Clump that runs
  std::string why;
};
StartFailure why_not_started(const std::string& launcher, const std::string& host, int code,
                             const std::string& said);

}  // namespace clump::tools
