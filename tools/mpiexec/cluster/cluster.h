// A job on several hosts: mpiexec plans it and runs PRRTE's prterun (head.h), which starts an agent on each
// host (agent.h) and sends it the plan (overview.h).
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
