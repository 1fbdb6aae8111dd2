// How the ranks of a program can run: what mpiexec decides and `clump explain` prints.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "inspect/inspect.h"

namespace clump::tools {

enum class Housing : std::uint8_t {
  kImages,  ///< several in one process, each with a private image
  kPlain,   ///< a process each, started as any program is
};

/// What decides for the program at `path`, which the user called `typed`: what it can, and, for kPlain, why
/// it cannot more. Fails with a message for the user if it cannot run at all.
base::Status judge(const std::string& typed, const std::string& path, const image::Verdict& verdict,
                   Housing& housing, std::string& why);

}  // namespace clump::tools
