// Variables that tell a rank its number before it calls MPI: scripts choose files by them, programs choose
// devices. They have the names that other launchers use (MPICH's, Open MPI's, MVAPICH's).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pmi/job.h"

namespace clump::pmi {

/// By which MPI_Comm_spawn tells mpiexec the port of those who start the job. It goes no further.
inline constexpr const char* kParentPortVariable = "CLUMP_PARENT_PORT";

/// "1/4" in a process that Clump's mpiexec has started as, or for, rank 1 of 4: the launcher whose variables
/// these are.
inline constexpr std::string_view kOwnRankVariable = "CLUMP_IS_RANK";

/// Whether a variable tells of a rank, or of the way to the launcher that has set it: what a job inside
/// another job must not take over.
CLUMP_HOST_API bool tells_of_rank(std::string_view name);

/// `environment` with the rank's own variables, and none of another job's.
CLUMP_HOST_API std::vector<std::string> environment_of_rank(const Job& job, int rank,
                                                            const std::vector<std::string>& environment);
/// The same for rank `rank` of `ranks` that were spawned together on one node.
std::vector<std::string> environment_of_spawned(int rank, int ranks,
                                                const std::vector<std::string>& environment);

}  // namespace clump::pmi
