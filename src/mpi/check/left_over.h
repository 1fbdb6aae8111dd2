// What is told at MPI_Finalize (mpiexec --check): objects that a program has not freed, requests that it has
// not completed, messages that were not received, and what it has done that no call has failed for.
#pragma once

#include "base/status.h"
#include "core/rank.h"

namespace clump::mpi {

/// Rank 0 tells of all ranks what is left, once. All ranks of the World model call it, each after all that it
/// has sent and freed. With --check=error it fails there instead, with the same words.
base::Status tell_left_over(core::Rank& self);

}  // namespace clump::mpi
