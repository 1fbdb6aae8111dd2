// The text that mpiexec prints about a failure.
#pragma once

#include <string>

#include "pmi/control.h"

namespace clump::diag {

/// Who, why, and the stack, a frame a line, without the frames of Clump's own below MPI calls and above
/// main(). Reads the files of the frames. `ranks`: of the job. `has_core`: a core file was written.
std::string report(const pmi::Failure& failure, int ranks, bool has_core = false);

/// "SIGSEGV (segmentation fault)".
std::string signal_name(int number);

}  // namespace clump::diag
