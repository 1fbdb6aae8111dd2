// prctl() of a rank that is a fiber: libc_thread.cc.
#pragma once

namespace clump::image {

/// As the system call of that name: -1 with errno where it fails.
long prctl_of_fiber(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

}  // namespace clump::image
