// Why the system has refused something, in the words that all parts of Clump use: the call, its error, the
// limit that is in force with its value, and what helps.
#pragma once

#include <string>
#include <string_view>

namespace clump::base {

/// "memfd_create: File too large: RLIMIT_FSIZE (ulimit -f) is 512 bytes; raise it with ulimit -f unlimited",
/// for a call of the system or the C library and the errno that it has left. Reads the limits of this
/// process, and /proc and /sys as far as they are there.
std::string why_refused(std::string_view call, int error);

/// The limits of memory that are in force, in the same words; empty if there are none.
std::string limits_of_memory();

/// Whether a filter of system calls (seccomp), as container runtimes have it, is in force in this thread.
bool has_call_filter();

}  // namespace clump::base
