// Runs PRRTE's prterun, which starts a proxy on each host of the job, to its end. Meanwhile the driver passes
// on signals and output, serves the proxies' connections, and ends the job where it is to be ended from
// outside.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "pmi/job.h"

namespace clump::mpiexec {

class Acceptor;
class ControlServer;
class GdbHosts;
class HostsInput;
class Records;

/// What run_prterun() needs.
struct Launch {
  std::vector<std::string> arguments;  ///< prterun and its own
  std::vector<std::string> environment;
  std::string folder;  ///< of its files, to be removed; empty: none
  std::string token;   ///< proxies' final statuses begin with it
  const std::vector<std::string>& hosts;
  const pmi::Job& job;
  Acceptor& acceptor;
  ControlServer& control;
  HostsInput& input;
  Records& records;
  int timeout_seconds = 0;  ///< 0: none
  int collapsed = 0;        ///< the output of so many ranks is; 0: of none
  GdbHosts* gdb = nullptr;  ///< only with --gdb
};

/// Runs prterun to its end: passes on signals and what it writes, looks after the others, and says which of
/// the hosts were lost. `code` becomes mpiexec's exit code. Fails if it cannot be started.
base::Status run_prterun(const Launch& launch, int& code);

}  // namespace clump::mpiexec
