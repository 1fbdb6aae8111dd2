// How ranks that are started as a job of their own (MPI_Comm_spawn) are told to mpiexec.
#pragma once

#include <string>
#include <vector>

#include "mpi/process.h"
#include "pmi/job.h"

namespace clump {

/// Where the ranks run, and how mpiexec gets there: its first words. Those that do not say run on the hosts
/// of this job, this host first, which have as many slots as ranks of this job. Fails with
/// MPI_ERR_UNSUPPORTED_OPERATION for programs on different hosts.
base::Status words_for_hosts(const pmi::Job& job, const std::vector<mpi::Command>& commands,
                             std::vector<std::string>& words);
/// What follows: the programs. `universe`: the MPI_UNIVERSE_SIZE of those that start the ranks.
std::vector<std::string> mpiexec_words(const std::vector<mpi::Command>& commands, int universe);

/// The environment of mpiexec: that of the first program, and the port to which the ranks connect.
std::vector<std::string> mpiexec_environment(const mpi::Command& first, const std::string& parent_port);

}  // namespace clump
