// Python whose mpi4py is a binary wheel. Such a wheel has a module for each family of MPI libraries, and asks
// the library in the process which one fits: ours has the standard's ABI, for which wheels have none so far.
// They have one for MPICH's ABI, which our facade serves, so it is the one that Python is told to take.
#pragma once

#include <string>

namespace clump::image {

/// By this variable mpi4py is told which of its modules it takes.
inline constexpr const char* kMpi4pyVariable = "MPI4PY_MPIABI";

/// The path of the Python that runs: the program itself, or what a script names in its "#!" line. Empty:
/// none.
std::string python_of(const std::string& program);

/// What that variable has to be, if it is not set, for the Python at this path; empty: mpi4py finds one that
/// fits by itself, or is not there. `python_path`, `home`: the variables PYTHONPATH and HOME, or null.
std::string module_for_mpi4py(const std::string& python, const char* python_path, const char* home);

/// LD_LIBRARY_PATH for what a Python starts that takes this module: where the system has no library for it,
/// Clump's is found last. Such a child is a job of one rank. `library_path`: the variable as it is, or null.
/// Empty: it stays so. Blocks on file reads.
std::string library_path_of_children(const std::string& module, const char* library_path);

}  // namespace clump::image
