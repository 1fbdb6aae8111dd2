// How many ranks a part of the command line has, where it is not said by one number.
#pragma once

#include <string>

#include "base/status.h"

namespace clump::mpiexec {

/// -soft (MPI-5.0 sections 11.5 and 11.8.4): the numbers that would do, as "a", "a:b" or "a:b:step" with
/// commas between them. As there is room for every rank, `ranks` becomes the largest of them that is not more
/// than it is. Fails if there is none.
base::Status choose_soft(const std::string& option, const std::string& list, int& ranks);

/// -arch: fails if programs for this machine are not what is asked for.
base::Status check_architecture(const std::string& option, const std::string& wanted);

}  // namespace clump::mpiexec
