// The processes that ranks have started: whose child is which. A rank waits for its own children only,
// although the kernel knows one parent, the host process. See children/fork.cc, children/wait.cc.
//
// All functions are async-signal-safe and lock-free, for any thread. A process without images keeps no such
// record.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "base/types.h"
#include "fiber/identity.h"
#include "process/children/child_table.h"

namespace clump::image {

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
/// The same for a process that no rank may wait for: it runs what replaces the rank (children/exec.cc).
void note_successor(pid_t process) noexcept;
/// A child that has not been waited for; Found{} if there is none.
ChildTable::Found find_child(pid_t process) noexcept;
/// The child of `owner` after `before`; Found{} begins and ends.
ChildTable::Found next_child_of(const fiber::Identity* owner, const ChildTable::Found& before) noexcept;
/// The child has been waited for. Found{}, and a child that another thread has forgotten, are nothing.
void forget_child(const ChildTable::Found& child) noexcept;
/// In a child that fork() has made: it has no children.
void forget_children() noexcept;

/// A child of the calling rank has been waited for, and has used this.
void count_usage(const struct rusage& usage) noexcept;
/// waitid() as the kernel has it, with what the child has used. By a rank (records_children()).
int wait_by_id(idtype_t type, id_t id, siginfo_t* info, int options, struct rusage* usage);

}  // namespace clump::image
