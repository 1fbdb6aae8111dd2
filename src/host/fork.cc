// fork() in a rank: the child is a process of its own with one thread, which is no rank. It may do what POSIX
// allows the child of a process with threads, and start programs; it cannot call MPI.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>

#include "fiber/fiber.h"
#include "host/stacks.h"
#include "host/state.h"
#include "image/fork_locks.h"
#include "process/children/children.h"
#include "process/children/personality.h"
#include "process/files/output.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/signals/signals.h"
#include "process/threads/cores.h"

namespace clump::host {

namespace {

/// What the kernel blocked for the calling thread before its fork(). A handler between here and the end could
/// wait for a lock that its own thread holds, or run in the child as in the parent.
thread_local image::signals::Set blocked = 0;

void before_fork() {
  blocked = image::signals::block_all();
  image::ForkLocks::hold();
}

void in_parent() {
  image::ForkLocks::let_go();
  image::signals::set_kernel_mask(blocked);
}

void in_child() {
  image::ForkLocks::renew();
  image::keep_cores_after_fork();
  image::keep_personality_after_fork();
  image::forget_children();
  image::output::keep_own_after_fork();
  take_limits_after_fork();
  image::locks::forget_after_fork();
  image::standard::go_home(true);
  image::signals::become_process(blocked);
  fiber::forget_fibers();
  Host& here = host();
  // Nobody has called MPI yet: what it starts may be the rank.
  if (here.started_by_mpiexec() && here.job.here().plain && here.ranks[0].phase == Phase::kStarting) return;
  // Whether this process ends, and how, is no business of mpiexec's.
  if (here.control >= 0) ::syscall(SYS_close, here.control);
  here.control = -1;
  static char why[200] = "this process is a child that fork() has made, and no rank: it cannot call MPI";
  if (fiber::Identity* const mine = fiber::identity()) {
    std::snprintf(why, sizeof why,
                  "this process is a child that rank %d has made with fork(), and no rank itself: it cannot "
                  "call MPI, but it can start programs with exec",
                  mine->rank);
    mine->mpi = nullptr;
  }
  here.why_no_mpi = why;
}

}  // namespace

void prepare_for_forks() { ::pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace clump::host
