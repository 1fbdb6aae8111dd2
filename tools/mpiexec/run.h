// Runs a job to its end: starts it, passes on signals and output, and reports the first failure.
#pragma once

#include "options.h"
#include "plan.h"
#include "records.h"

namespace clump::mpiexec {

/// Blocks until nothing of the job is left. Returns mpiexec's exit code.
int run(const Command& command, const Plan& plan, Records& records);

}  // namespace clump::mpiexec
