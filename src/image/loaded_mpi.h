// Finds libraries that this process has loaded for another MPI library than Clump's. Their calls of MPI
// functions come to Clump, because its library was loaded first, but their arguments have a different
// meaning.
#pragma once

#include <optional>

#include "inspect/mpi_library.h"

namespace clump::image {

/// Another MPI library that is loaded, and the file that has loaded it. Any thread; reads files if there is
/// one.
std::optional<WrongMpi> other_mpi_here();
/// The same, but nothing if another file needs Clump's library: the other library may not be used at all.
std::optional<WrongMpi> only_other_mpi_here();

/// The same for a library that ld.so could not load: `name` is the library that was to be opened, `error` is
/// the result of dlerror().
std::optional<WrongMpi> missing_mpi(const char* name, const char* error);
/// The same if `address`, the address of a function of MPI called `name` that begins MPI, belongs to another
/// library.
std::optional<WrongMpi> other_mpi_at(const char* name, const void* address);

/// The path of Clump's mpicc.
const std::string& own_mpicc();

}  // namespace clump::image
