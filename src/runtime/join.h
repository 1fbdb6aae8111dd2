// Ranks that join the world of this host process (MPI_Comm_spawn), and what boot.cc does for them as well.
#pragma once

#include "core/rank.h"
#include "pmi/job.h"

namespace clump {

/// The value of MPI_INFO_ENV (MPI-5.0 section 10.2.1): how the ranks of `app` were asked for.
core::Info describe(const pmi::App& app);
/// Applies the initial error handler that the environment of `app` names (mpiexec --initial-errhandler): to
/// MPI_COMM_WORLD and MPI_COMM_SELF, and to errors that are raised while these do not exist (entry.cc).
void apply_initial_errhandler(const pmi::App& app, core::Rank& rank);

}  // namespace clump
