// The hosts that a batch system has given to the job in which mpiexec runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "command/hosts.h"
#include "common/wish.h"

namespace clump::mpiexec {

struct BatchSystem {
  std::string_view name;
  const char* job;       ///< a variable that is set in its jobs
  const char* variable;  ///< names its list of hosts, or a file with them
  const char* launcher;  ///< of tools::LauncherChoice
};

/// Names in place of a batch system's: this host alone. Hydra has the second one.
constexpr std::string_view kNoBatchSystem[] = {"none", "user"};

/// Null: there is none of this name.
const BatchSystem* find_batch_system(std::string_view name);
/// Fails if there is none of this name, and it is not kNoBatchSystem.
base::Status check_batch_system(const tools::Wish& name);
/// In whose job mpiexec runs; null: in none.
const BatchSystem* own_batch_system();

/// With their slots. None: mpiexec does not run in a job of that system.
std::vector<Host> batch_hosts(const BatchSystem& system);

}  // namespace clump::mpiexec
