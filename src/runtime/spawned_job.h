// How ranks that are started as a job of their own (MPI_Comm_spawn) are told to mpiexec.
#pragma once

#include <string>
#include <vector>

#include "mpi/process.h"
#include "pmi/job.h"

namespace clump {

/// The words behind mpiexec's name: how it reaches hosts, where the ranks run, and the programs. In a job
/// over hosts those that do not say run on its hosts, this host first, which have as many slots as ranks of
/// it.
std::vector<std::string> mpiexec_words(const pmi::Job& job, const std::vector<mpi::Command>& commands);

/// The environment of mpiexec: that of the first program, and the port to which the ranks connect.
std::vector<std::string> mpiexec_environment(const mpi::Command& first, const std::string& parent_port);

}  // namespace clump
