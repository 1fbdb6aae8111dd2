// What a rank finds about its own program in /proc/self. The kernel has one program and one list of arguments
// for the process: those of its first rank. For a rank of another part of the job, or with other arguments,
// functions of the C library that take a path get a different path.
#pragma once

#include <link.h>

#include <string>
#include <vector>

#include "fiber/identity.h"

namespace clump::image {

class Image;

/// The path that `path` stands for when the calling rank uses it: that of its program for /proc/self/exe,
/// that of a file with its arguments for /proc/self/cmdline; the same of another rank of the process for
/// /proc/ID/exe and /proc/ID/cmdline; `path` itself otherwise. Keeps errno. In a process without images it is
/// always `path`.
const char* path_for_rank(const char* path);

/// Sets the arguments and the environment of the calling rank, which is not the native one. The rank gets
/// copies in one piece, as the kernel makes them for a process, because programs write their title over them.
/// Returns argv. By the thread that will run the rank, before run_constructors().
char** set_environment(fiber::Identity& rank, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment);

/// Notes the process's auxiliary vector, which follows its environment. Before there are ranks.
void note_auxiliary_vector(char** environment);
/// The rank's, with AT_NULL at its end.
std::vector<ElfW(auxv_t)> auxiliary_vector_of(const Image& image);

/// Begins a program other than the main program at its entry point, on the stack of the calling thread, which
/// belongs to the rank and has run the constructors. The code there calls __libc_start_main with the rank's
/// `main`.
[[noreturn]] void enter(fiber::Identity& rank);

}  // namespace clump::image
