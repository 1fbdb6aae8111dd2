// syscall() of what a rank waits for, and of limits: for syscall.cc only.
#pragma once

namespace clump::image {

/// Whether a system call waits for descriptors or signals, makes a timer, or is about limits of the process.
bool is_about_waits_or_limits(long number);

/// Calls the C library's function of the same purpose, which knows what descriptors, signals and limits are
/// to the rank. `all` are the arguments of the system call. Ends the job for a timer that would signal the
/// process.
long call_for_waits_or_limits(long number, const long (&all)[6]);

}  // namespace clump::image
