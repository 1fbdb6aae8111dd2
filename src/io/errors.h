// What the system says about files, as error classes of MPI (MPI-5.0 section 14.7) with the file and the
// reason in the text.
#pragma once

#include <string_view>

#include "base/status.h"

namespace clump::io {

/// The failure of a system call on a file. `doing` completes "cannot ...": "open", "write 100 bytes at 0 of".
base::Status system_error(int number, std::string_view doing, std::string_view file);

}  // namespace clump::io
