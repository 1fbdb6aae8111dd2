// The proxy: mpiexec on one of several hosts, which prterun starts. It runs this host's part of the job as
// mpiexec runs a job of one host. It is the only PMIx client of the host, and looks addresses up for the
// processes.
#pragma once

#include "command/options.h"

namespace clump::mpiexec {

/// mpiexec's exit code.
int run_proxy(const Command& command);

}  // namespace clump::mpiexec
