// Process ids of ranks that share a process. getpid() returns to a rank the number of its main thread's own
// kernel thread: no other process or thread has that number as long as the job runs, /proc/ID exists, and the
// kernel accepts it where it accepts the number of a thread. For the first rank it is the number of the
// process. Functions that take or return a process id are interposed where the kernel would take the id for a
// different rank, or for none: id_functions.cc, signals/kill.cc. docs/decisions/036-process-ids.md.
//
// All functions are async-signal-safe, for any thread, and for children that a rank has forked.
#pragma once

#include <sys/types.h>

#include "fiber/identity.h"

namespace clump::image::process_ids {

/// The calling rank's process id. For a thread of no rank, in a plain process, and in a child of a rank: the
/// kernel's number of the process.
pid_t mine() noexcept;

/// The process id of a rank of this process; 0 before anything of the rank runs.
pid_t of(const fiber::Identity& rank) noexcept;

/// The rank with this id, in this process or in the process that has forked this one, whether it has ended or
/// not; null if there is none.
fiber::Identity* rank_with(pid_t id) noexcept;

/// `id`; if it is the id of a rank of this process, the number of the process, which some system calls need.
pid_t for_kernel(pid_t id) noexcept;
/// The reverse, for a number that comes from the kernel.
pid_t for_rank(pid_t process) noexcept;

// Answers from /proc; negative if it has none.

/// The process that the thread belongs to; it may be this process.
pid_t process_of(pid_t thread) noexcept;
pid_t parent_of(pid_t process) noexcept;
/// The process of a pidfd.
pid_t behind(int descriptor) noexcept;

}  // namespace clump::image::process_ids
