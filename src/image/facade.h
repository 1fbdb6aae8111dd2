// Facades for libraries that a rank opens while it runs: a module of Python that is made for MPICH's ABI,
// say. For programs that are linked to such a library mpiexec preloads the facade (inspect.h), and ld.so
// binds them to it.
#pragma once

#include <link.h>

#include <string>
#include <vector>

namespace clump::image {

/// The facade that the file, or a library that it needs and that is not loaded yet, names; empty: none. Reads
/// files.
std::string facade_needed_by(const std::string& path);

/// Whether the object names a library that a facade of ours has taken the place of.
bool uses_facade(const link_map& object);
/// The facades in whose places ld.so has loaded other libraries, as it does where mpiexec could not see what
/// comes: behind a shell.
std::vector<std::string> facades_missing_here();
/// Binds the functions of MPI that such an object imports to the facade, which is loaded. ld.so has bound
/// them to the first library that defines them, which is libmpi_abi.so.1.
void bind_to_facade(const link_map& object);

}  // namespace clump::image
