// How ranks that are started as a job of their own (MPI_Comm_spawn) are told to mpiexec.
#pragma once

#include <string>
#include <vector>

#include "mpi/process.h"

namespace clump {

/// What stands behind the name of mpiexec. `universe`: the MPI_UNIVERSE_SIZE of those that start the ranks.
std::vector<std::string> mpiexec_words(const std::vector<mpi::Command>& commands, int universe);

/// The environment of mpiexec: that of the first program, and the port to which the ranks connect.
std::vector<std::string> mpiexec_environment(const mpi::Command& first, const std::string& parent_port);

}  // namespace clump
