// A job on several hosts: mpiexec plans it and runs PRRTE's prterun (head.h), which starts an agent on each
// host (agent.h). The plan travels in the environment, whose values no command line shows.
#pragma once

#include <string>

#include "base/status.h"
#include "options.h"
#include "plan.h"
#include "records.h"

namespace clump::mpiexec {

/// Whether the job needs other hosts than this one.
bool needs_other_hosts(const Command& command);
/// Returns when the job is over, with mpiexec's exit code, or fails to start it.
base::Status run_on_hosts(const Command& command, Plan& plan, Records& records, int& code);

/// What the agents read. Taken out of the environment.
base::Status receive_plan(pmi::Job& job);

}  // namespace clump::mpiexec
