// How the ranks of a program can run: what mpiexec decides and `clump explain` prints.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "image/inspect.h"

namespace clump::tools {

/// How the ranks run.
enum class Housing : std::uint8_t {
  kThreads,    ///< all in one process, each with a private image
  kProcesses,  ///< programs without MPI: a process each
};

/// Decides for the program at `path`, which the user called `typed`. Fails with a message for the user if it
/// cannot run at all, or if it is an MPI program whose ranks cannot share a process.
base::Status judge(const std::string& typed, const std::string& path, const image::Verdict& verdict,
                   Housing& housing);

}  // namespace clump::tools
