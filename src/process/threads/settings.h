// prctl() of a rank: threads/settings.cc.
#pragma once

namespace clump::image {

/// prctl() of a rank that is a fiber. As the system call: -1 with errno if it fails.
long prctl_of_fiber(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

/// Ends the job if prctl() with this option, called by a rank, would affect the process and change what other
/// ranks find.
void refuse_option_of_process(int option);

}  // namespace clump::image
