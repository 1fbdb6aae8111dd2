// Files that hold a part of mpiexec's command line: -configfile and -file (MPI-5.0 section 11.5).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// The words of a file, line by line; `option` is what has named it. A line that begins with '#' says
/// nothing, one that ends with '\' goes on in the next. Words are separated by spaces; '...' and "..." keep
/// them together, and '\' takes what follows as it is.
base::Status read_words(const std::string& option, const std::string& file,
                        std::vector<std::vector<std::string>>& lines);

}  // namespace clump::mpiexec
