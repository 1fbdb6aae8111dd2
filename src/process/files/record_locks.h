// Record locks (fcntl() with F_SETLK, lockf()) of ranks that share a process. POSIX gives them to the
// process: ranks would not exclude each other, and a rank that closes a file would drop the locks of all.
//
// Here each rank owns its locks. For each file that it locks, a rank has one private open file description,
// and its locks are open-file-description locks of the kernel on that description. So the descriptors of one
// rank share its locks, as those of one process do, and different ranks exclude each other and other
// processes. When the rank closes any descriptor of the file, its locks on the file are dropped. A child that
// fork() makes has none of them.
//
// F_SETLKW finds deadlocks (EDEADLK) among the ranks of this process. Differences from POSIX: it does not
// find deadlocks between ranks of several processes; closing a descriptor by the system call itself keeps the
// locks until the rank closes another descriptor of the file, or ends; in files that are not regular, or that
// cannot be opened again, locks belong to the descriptor that sets them.
#pragma once

#include <fcntl.h>

namespace clump::image {

class Image;
class Jump;

namespace locks {

/// Called if several ranks share this process. Before any of them runs.
void begin();
/// Whether the calling thread's locks are kept here; if not, the kernel keeps them.
bool are_kept();

/// fcntl() with F_SETLK or, with `waits`, F_SETLKW. Here and below `descriptor` is the kernel's number.
int set(int descriptor, struct flock wanted, bool waits);
/// fcntl() with F_GETLK.
int get(int descriptor, struct flock& lock);
/// fcntl() with F_OFD_SETLKW, and flock(): another rank of this process may have to run until the lock is
/// free.
int wait_for_description(int descriptor, struct flock wanted);
int wait_for_file(int descriptor, int operation);

/// Called before longjmp() and siglongjmp(): if the calling thread waits for a lock, a handler may leave that
/// wait.
void leave_by(const Jump& jump) noexcept;

/// Whether the calling rank may have locks.
bool has_any();

/// Called before the calling rank closes a descriptor, or puts another file there. Does nothing if it has no
/// locks.
void before_close(int descriptor);
void before_close_range(unsigned first, unsigned last);
void release_all(Image& image);

/// In the child of a fork(): it has none of its parent's locks.
void forget_after_fork();

}  // namespace locks
}  // namespace clump::image
