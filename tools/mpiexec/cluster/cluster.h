// A job on several hosts. mpiexec plans it and starts a proxy on each host (hosts_driver.h), which runs that
// host's part (proxy.h).
//
//   host of mpiexec: mpiexec -- supervisor -- ssh, one for each other host
//   each host:       proxy -- supervisor -- the processes with ranks
//   between:         the standard input and output of each ssh
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
