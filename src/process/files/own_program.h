// What a rank finds about its own program in /proc/self. The kernel has one program and one list of arguments
// for the process: those of its first rank. For a rank of another part of the job, or with other arguments,
// functions of the C library that take a path get a different path.
#pragma once

namespace clump::image {

/// The path that `path` stands for when the calling rank uses it: that of its program for /proc/self/exe,
/// that of a file with its arguments for /proc/self/cmdline; the same of another rank of the process for
/// /proc/ID/exe and /proc/ID/cmdline; `path` itself otherwise. Keeps errno. In a process without images it is
/// always `path`.
const char* path_for_rank(const char* path);

}  // namespace clump::image
