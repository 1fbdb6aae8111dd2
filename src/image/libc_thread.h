// prctl() of a rank: libc_thread.cc.
#pragma once

namespace clump::image {

/// Of one that is a fiber. As the system call of that name: -1 with errno where it fails.
long prctl_of_fiber(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

/// Ends the job if prctl() with this option, by a rank, would hold for the process and change what others
/// find.
void refuse_option_of_process(int option);

}  // namespace clump::image
