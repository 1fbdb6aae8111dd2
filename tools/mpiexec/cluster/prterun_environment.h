// The environment of prterun and of the proxies that it starts. Ranks have another one, which the plan
// carries.
#pragma once

#include <string>
#include <vector>

namespace clump::mpiexec {

/// Out of `own`, mpiexec's: without what prterun would take for its own of a job around this one, and without
/// long values, for which a system call has no room besides its own.
std::vector<std::string> prterun_environment(const char* const* own);

/// The settings in `environment` that are PRRTE's, separated by ", ": where a job does not start, they may be
/// left over from another one.
std::string prrte_settings(const std::vector<std::string>& environment);

}  // namespace clump::mpiexec
