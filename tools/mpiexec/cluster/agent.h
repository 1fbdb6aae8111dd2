// The agent: mpiexec on one of several hosts, started by prterun. It runs this host's part of the job as
// mpiexec runs a job of one host, and is its processes' way to what those of other hosts have told (PMIx).
#pragma once

#include "command/options.h"

namespace clump::mpiexec {

/// mpiexec's exit code.
int run_agent(const Command& command);

}  // namespace clump::mpiexec
