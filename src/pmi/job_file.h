// The description of a job in a file without a name, which mpiexec leaves to host processes.
#pragma once

#include "base/status.h"
#include "pmi/job.h"

namespace clump::pmi {

/// A file that holds encode(job), closed on exec.
base::Status write_job(const Job& job, int& descriptor);

/// The job behind such a descriptor, read by its process number `process`. Fails with MPI_ERR_ARG, and leaves
/// `job` as it is, if it is damaged, or has no such process on this node.
base::Status read_job(int descriptor, int process, Job& job);

}  // namespace clump::pmi
