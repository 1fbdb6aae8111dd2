// Runs a job on several hosts to its end: starts a proxy on each of them through launchers, passes on signals
// and output, and ends the job where it fails or is to be ended from outside.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cluster/places_here.h"
#include "command/options.h"
#include "common/launchers.h"
#include "job/records.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// What run_hosts() needs.
struct Launch {
  const Command& command;
  const pmi::Job& job;
  tools::LauncherChoice choice;
  const tools::Launcher& launcher;  ///< for that choice
  int width = 0;                    ///< so many hosts are started from here; others start the rest
  std::vector<bool> are_here;       ///< by host
  std::vector<std::string> words;   ///< for proxies (start_message.h)
  Places places;
  Records& records;
};

/// `code` becomes mpiexec's exit code. Fails if nothing could be started.
base::Status run_hosts(const Launch& launch, int& code);

}  // namespace clump::mpiexec
