// A job on several hosts. mpiexec plans it and runs PRRTE's prterun (prterun_driver.h), which starts a proxy
// on each host (proxy.h). mpiexec sends the plan to each proxy (control_server.h).
//
//   host of mpiexec: mpiexec -- supervisor -- prterun -- ssh, one for each other host
//   each host:       prted (or prterun) -- proxy -- supervisor -- the processes with ranks
//   between:         each proxy connects to mpiexec
#pragma once

#include <string>

#include "base/status.h"
#include "command/options.h"
#include "job/records.h"
#include "plan/plan.h"

namespace clump::mpiexec {

/// Whether the job needs other hosts than this one.
bool needs_other_hosts(const Command& command);
/// Returns when the job is over, with mpiexec's exit code, or fails to start it.
base::Status run_on_hosts(const Command& command, Plan& plan, Records& records, int& code);

}  // namespace clump::mpiexec
