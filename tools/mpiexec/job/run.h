// Runs a job to its end: starts it, passes on signals and output, and reports the first failure.
#pragma once

#include <vector>

#include "cluster/connection.h"
#include "command/options.h"
#include "job/records.h"
#include "plan/plan.h"

namespace clump::mpiexec {

/// A proxy's line to mpiexec.
struct ControlLink {
  Connection connection;
  int input = -1;        ///< what its ranks read (hosts_input.h); -1: nothing. It is given away
  int gdb = -1;          ///< the other end is mpiexec's gdb. It is given away
  std::vector<int> own;  ///< what the processes of ranks, and their supervisor, shall not have
};

/// Blocks until nothing of the job is left. Returns mpiexec's exit code. `link`: only a proxy's.
int run(const Command& command, const Plan& plan, Records& records, ControlLink* link = nullptr);

}  // namespace clump::mpiexec
