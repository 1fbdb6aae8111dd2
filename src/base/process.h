// The number of this process. getpid() is not for our own code: where ranks share a process it tells each
// rank a number of its own (process/ids.h).
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace clump::base {

/// As the kernel has it. Async-signal-safe, and right in any child.
inline pid_t process_id() noexcept { return static_cast<pid_t>(::syscall(SYS_getpid)); }

}  // namespace clump::base
