// What this process has loaded that is made for another MPI library than ours. Functions of MPI that it calls
// come to us all the same, as ours was there first; but what they are given means something else.
#pragma once

#include <optional>

#include "image/mpi_library.h"

namespace clump::image {

/// Another MPI library, and what has brought it in. Any thread; reads files if there is one.
std::optional<WrongMpi> other_mpi_here();
/// Nothing either if something else needs ours: the other one may be there in vain.
std::optional<WrongMpi> only_other_mpi_here();

/// The same of what ld.so could not load: `name` is what was to be opened, `error` dlerror()'s.
std::optional<WrongMpi> missing_mpi(const char* name, const char* error);
/// `address` is that of a function of MPI that begins it, `name`, and it is another library's.
std::optional<WrongMpi> other_mpi_at(const char* name, const void* address);

/// The path of our mpicc.
const std::string& own_mpicc();

}  // namespace clump::image
