// The files that ranks write their output to: --output-dir, --outfile-pattern, --errfile-pattern.
#pragma once

#include "base/status.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// Makes those of the ranks of this host, and the folders that they are in; what they held is lost. Fails
/// with a message that names the file.
base::Status make_output_files(const pmi::Job& job);

/// Opens a rank's; -1 with errno if it cannot. `descriptor` is 1 or 2.
int open_output_file(const pmi::Job& job, int rank, int descriptor);

}  // namespace clump::mpiexec
