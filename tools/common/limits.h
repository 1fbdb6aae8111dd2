// System limits that a job would run into: named before anything starts, with the command that raises them.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::tools {

/// What a job needs of the system, at least.
struct Needs {
  long tasks = 0;        ///< threads and processes
  long mappings = 0;     ///< of the largest process
  long descriptors = 0;  ///< of mpiexec
  long stacks = 0;       ///< KiB of address space for those of all ranks of the largest process
};

/// What a host process needs for so many ranks, workers (0 under the scheduler `threads`), and objects of
/// which each rank has its own copy (the program is one).
Needs needs_of_host(long ranks, long workers, long private_objects);

/// A limit and how to raise it.
struct Limit {
  std::string name;
  long value = 0;  ///< what is left of it
  long needed = 0;
  std::string how;
};

/// Every limit that `needs` exceeds. Reads /proc, /sys and the limits of this process.
std::vector<Limit> exceeded(const Needs& needs);

/// Fails with MPI_ERR_SPAWN if the stack that this process, and so a rank's, has is too small for Clump's own
/// functions.
base::Status check_stack();

/// Fails with MPI_ERR_SPAWN and a text that names the first limit. Raises the soft limit of open files where
/// that is enough.
base::Status check_limits(const Needs& needs, int ranks);

}  // namespace clump::tools
