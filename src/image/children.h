// The processes that ranks have started: whose child is which. A rank waits for its own children only,
// although the kernel knows one parent, the host process. See libc_fork.cc, libc_wait.cc.
//
// All functions are async-signal-safe and lock-free, for any thread. A process without images keeps no such
// record.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <atomic>

#include "base/types.h"
#include "fiber/identity.h"

namespace clump::image {

/// One process that has not been waited for.
struct Child {
  std::atomic<pid_t> process{0};  ///< 0: the entry is free; negative: it is being written
  std::atomic<fiber::Identity*> owner{nullptr};
  std::atomic<bool> told{false};  ///< its owner got a SIGCHLD for its end: signal_children.cc
};

/// The rank that has started `process` with fork(), vfork(), posix_spawn(), system(), popen() or clone();
/// null if none has, or if it has been waited for. A child may end before the call that has started it
/// returns in its parent: until then the answer is null.
CLUMP_HOST_API fiber::Identity* owner_of_child(pid_t process) noexcept;

/// The same, also of those that were waited for lately.
fiber::Identity* starter_of(pid_t process) noexcept;

/// Whether the calling thread is one of a rank with an image, and not of a child that a rank has forked: only
/// then are children recorded.
bool records_children() noexcept;

/// The calling rank has started `process`; ignores negative numbers. Keeps errno.
void note_child(pid_t process) noexcept;
/// The same for a process that no rank may wait for: it runs what replaces the rank (libc_exec.cc).
void note_successor(pid_t process) noexcept;
/// The entry of a process; null if there is none.
Child* find_child(pid_t process) noexcept;
/// The entry after `before` (null: the first) that belongs to `owner`; null if there is no other.
Child* next_child_of(const fiber::Identity* owner, Child* before) noexcept;
/// The process has been waited for. Null is nothing.
void forget_child(Child* child) noexcept;
/// In a child that fork() has made: it has no children.
void forget_children() noexcept;

/// A child of the calling rank has been waited for, and has used this.
void count_usage(const struct rusage& usage) noexcept;
/// waitid() as the kernel has it, with what the child has used. By a rank (records_children()).
int wait_by_id(idtype_t type, id_t id, siginfo_t* info, int options, struct rusage* usage);

}  // namespace clump::image
