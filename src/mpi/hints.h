// Hints that a communicator can be given (MPI-5.0 section 7.4.4): "clump_" and the name of a control variable
// about collectives, such as clump_allreduce_algorithm or clump_reductions, with one of its values. For this
// communicator they stand above what the control variable says; all of its ranks have to give the same.
#pragma once

#include "base/status.h"
#include "core/comm.h"

namespace clump::mpi {

/// MPI_ERR_INFO_VALUE if a hint that is known has a value that is not. For calls that make a communicator,
/// before they do.
base::Status check_hints(const core::Info* info);
/// What check_hints() has found to be right, and what the standard lets a program assert; the communicator
/// does not know of other hints afterwards (MPI_Comm_get_info tells those in use, MPI-5.0 section 7.4.4).
/// Null: none.
void give_hints(core::Comm& comm, const core::Info* info);

}  // namespace clump::mpi
