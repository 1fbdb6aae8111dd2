// Templates: libraries that ranks load while they run (plugins), loaded once per process in order to be
// copied.
//
// ld.so loads and relocates a template, but none of its constructors runs, and no rank runs in it: every rank
// that opens the library gets a copy. ld.so is given a memory file: the library without its constructors and
// destructors.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "image/fork_locks.h"

namespace clump::image {

class Image;
struct Object;

/// Held while templates are loaded.
RecursiveForkMutex& loader_lock();

/// Finds the object of the library at `path`, as dlopen() of `rank` would: what the rank has open already,
/// else what the file holds now. If that is new, it is loaded, with the libraries that it needs. `flags` as
/// for dlopen; only RTLD_GLOBAL has an effect. A library that all ranks share is loaded as it is. An error
/// has ld.so's text.
base::Status load_library(const std::string& path, int flags, const Image& rank, Object** object);
/// What the rank has open of the file at `path`; null if it has nothing.
Object* find_open(const std::string& path, const Image& rank);

/// Loads another program, as a template, with the libraries that it needs. Its thread-local variables must
/// fit where the main program has its own, because the code of a program finds them relative to the thread
/// pointer. MPI_ERR_SPAWN if they do not fit, or with ld.so's text.
base::Status load_executable(const std::string& path, Object** object);

/// The path of a library as the object `by` would find it: that of the library which the rank has open under
/// this name, or the result of a search. Empty if there is none.
std::string resolve_library(const std::string& name, const Object* by, const Image& rank);

/// All private objects that `object` needs, directly or indirectly: itself first, breadth first.
std::vector<Object*> with_needed(Object& object);
/// The same with the libraries that ranks share: where dlsym() looks for symbols of the object.
std::vector<Object*> with_all_needed(Object& object);

/// dlopen and dlerror of ld.so.
void* ld_open(const char* path, int flags);
std::string ld_error();

}  // namespace clump::image
