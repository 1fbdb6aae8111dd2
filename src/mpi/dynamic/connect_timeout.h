// The info key `timeout` of MPI_Comm_connect (MPI-5.0 section 11.8.2).
#pragma once

#include "base/status.h"
#include "core/info.h"

namespace clump::mpi {

/// How many seconds MPI_Comm_connect waits; negative: without end. `info` may be null. MPI_ERR_INFO_VALUE:
/// the key has another value.
base::Status read_timeout(const core::Info* info, double& seconds);

}  // namespace clump::mpi
