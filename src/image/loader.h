// Templates: libraries that a rank loads while it runs (plugins), loaded once per process for the sake of
// their copies.
//
// ld.so loads and relocates a template, but none of its constructors runs and no rank runs in it: every rank
// that opens the library gets a copy. What ld.so is given is a memory file: the library without its
// constructors and destructors.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::image {

struct Object;

/// Held while templates are loaded.
std::recursive_mutex& loader_lock();

/// Finds the object of the library at `path`, loading it and the libraries it needs if it is new. `flags` as
/// for dlopen; what counts is RTLD_GLOBAL. A library that all ranks share is loaded as it is. Fails with
/// ld.so's words.
base::Status load_library(const std::string& path, int flags, Object** object);

/// Loads another program, as a template, with the libraries it needs. Its thread-local variables must fit
/// where the main program has its own: the code of a program knows their place from the thread pointer.
/// MPI_ERR_SPAWN if they do not, or in ld.so's words.
base::Status load_executable(const std::string& path, Object** object);

/// The path of a library as the object `by` would find it: what is loaded under that name, or what a search
/// finds. Empty if nothing.
std::string resolve_library(const std::string& name, const Object* by);

/// All objects that `object` needs, directly or not, itself first, breadth first; private ones only.
std::vector<Object*> with_needed(Object& object);

/// ld.so's dlopen, dlerror.
void* ld_open(const char* path, int flags);
std::string ld_error();

}  // namespace clump::image
