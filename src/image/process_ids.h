// Process ids of ranks that share a process. getpid() tells a rank the number of its main thread's own kernel
// thread: no other process or thread has it as long as the job runs, /proc/ID is there, and the kernel takes
// it where it takes the number of a thread. For the first rank that is the number of the process. What takes
// or gives a process id is interposed where the kernel would understand another rank, or nothing:
// libc_process_ids.cc, libc_kill.cc. docs/decisions/036-process-ids.md.
//
// All functions are async-signal-safe, for any thread, and for children that a rank has forked.
#pragma once

#include <sys/types.h>

#include "fiber/identity.h"

namespace clump::image::process_ids {

/// The calling rank's. The kernel's number of the process for a thread of no rank, in a plain process, and in
/// a child of a rank.
pid_t mine() noexcept;

/// A rank's of this process; 0 before anything of the rank runs.
pid_t of(const fiber::Identity& rank) noexcept;

/// The rank of this process, or of the process that has forked this one, that has this id, whether it has
/// ended or not; null if there is none.
fiber::Identity* rank_with(pid_t id) noexcept;

/// `id`, or the number of the process if it is the id of one of its ranks: for system calls that want that.
pid_t for_kernel(pid_t id) noexcept;
/// The reverse, of what the kernel tells.
pid_t for_rank(pid_t process) noexcept;

// What /proc tells; negative if it does not.

/// The process that has this thread, or is this process.
pid_t process_of(pid_t thread) noexcept;
pid_t parent_of(pid_t process) noexcept;
/// What a pidfd means.
pid_t behind(int descriptor) noexcept;

}  // namespace clump::image::process_ids
