// Finds out which allocator a program brings. All ranks of a process, and the C library that they share,
// allocate from one allocator. If it is a shared library, all ranks use it. If the program itself defines
// malloc(), each rank would have one, and the C library would use that of the first rank only.
//
// Used by mpiexec and `clump explain`, without loading the files. Any thread; blocks on file reads only.
#pragma once

#include <string>
#include <string_view>

namespace clump::image {

class ElfFile;

/// Whether the file defines malloc() and free() for others.
bool defines_malloc(const ElfFile& file);

/// Whether `name`, the file name of a library that defines malloc(), is an allocator and nothing else, so
/// that ranks may share it. False for the C library and for sanitizers.
bool is_allocator_library(const char* name);

/// Whether `function` sets or queries the C library's own allocator, and no other one: mallopt(), mallinfo(),
/// ...
bool is_of_libc_malloc(std::string_view function);

/// The first library in `preloaded`, a value of LD_PRELOAD, that defines malloc(); empty if there is none.
/// `library_path` is the value of LD_LIBRARY_PATH.
std::string allocator_among(const std::string& preloaded, const std::string& library_path);

}  // namespace clump::image
