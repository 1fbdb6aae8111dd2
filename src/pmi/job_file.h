// The description of a job in a file without a name, which mpiexec leaves to host processes.
#pragma once

#include "base/status.h"
#include "pmi/job.h"

namespace clump::pmi {

/// A file that holds encode(job), closed on exec.
base::Status write_job(const Job& job, int& descriptor);

}  // namespace clump::pmi
