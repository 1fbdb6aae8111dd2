// Which allocator a program brings. All ranks of a process, and the C library that they share, allocate from
// one: an allocator that is a shared library is that one; a program that defines malloc() itself would have
// one for each rank, and the C library would know that of the first rank only.
//
// Used by mpiexec and `clump explain`, without loading the files. Any thread; blocks on file reads only.
#pragma once

#include <string>
#include <string_view>

namespace clump::image {

class ElfFile;

/// The file defines malloc() and free() for others.
bool defines_malloc(const ElfFile& file);

/// `name`, the file name of a library that defines malloc(), is an allocator and nothing else, so that ranks
/// may share it. The C library and sanitizers are not meant.
bool is_allocator_library(const char* name);

/// `function` sets or asks the C library's own allocator, and no other one: mallopt(), mallinfo(), ...
bool is_of_libc_malloc(std::string_view function);

/// The first library of LD_PRELOAD's list that defines malloc(); empty if there is none. `library_path`
/// stands for LD_LIBRARY_PATH.
std::string allocator_among(const std::string& preloaded, const std::string& library_path);

}  // namespace clump::image
