// What the supervisor has to know of a host process before it starts it: program, environment, descriptors.
#pragma once

#include "command/options.h"
#include "job/preload_names.h"
#include "job/supervisor.h"
#include "plan/plan.h"

namespace clump::mpiexec {

/// Descriptors that all host processes get: see pmi/job.h, control.h and node_memory.h.
struct Handed {
  int job = -1, control = -1, life = -1, node = -1;
  int records = -1;  ///< -1: calls are not written down
};

/// All but stdin, stdout and stderr. `names` has to live as long as the process.
base::Status describe(const Command& command, const Plan& plan, const Handed& handed, PreloadNames& names,
                      int number, Process& process);

/// Sets a variable of an environment, or replaces it.
void set(std::vector<std::string>& environment, const std::string& name, const std::string& value);

}  // namespace clump::mpiexec
