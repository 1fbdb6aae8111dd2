// The text that mpiexec prints about a failure.
#pragma once

#include <string>
#include <string_view>

#include "pmi/control.h"

namespace clump::diag {

/// The text about a failure: the rank, the reason, and the stack, one frame on a line, without the frames of
/// Clump below MPI calls and above main(). Reads the files of the frames. `ranks`: the number of ranks of the
/// job. `where`: " on HOST" behind the rank's name, or nothing. `has_core`: a core file was written.
std::string report(const pmi::Failure& failure, int ranks, std::string_view where = {},
                   bool has_core = false);

/// The name of a signal with its meaning: "SIGSEGV (segmentation fault)".
std::string signal_name(int number);

}  // namespace clump::diag
