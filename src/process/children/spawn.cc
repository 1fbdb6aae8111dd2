#include "process/children/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "base/process.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/files/standard.h"

namespace clump::image {
namespace {

std::atomic<const LimitsHooks*> hooks{nullptr};

/// An action as glibc keeps it; standard::know_layout() says whether it does.
struct FileAction {
  enum class Kind : int {
    kClose,
    kDuplicate,
    kOpen,
    kChangeFolder,
    kChangeToOpenFolder,
    kCloseFrom,
    kTakeTerminal
  };
  Kind kind;
  int unused;
  union {
    struct {
      int descriptor, other;
    } duplicate;
    struct {
      int descriptor;
      char* path;
      int flags;
      mode_t mode;
    } open;
    char* folder;
  };
};
static_assert(sizeof(FileAction) == standard::kFileActionBytes);

/// What the child needs. Its parent, whose memory it has, waits until it executes the program or ends.
struct Start {
  const ToSpawn& wanted;
  RankLimits limits;
  signals::Set ignored = 0;  ///< by the rank
  signals::Set mask = 0;     ///< of the calling thread
  int error = 0;
};

int fail_unless(long result) { return result < 0 ? errno : 0; }

int open_as(const FileAction& action) {
  const int number = action.open.descriptor;
  syscall(SYS_close, number);
  const int made =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, action.open.path, action.open.flags, action.open.mode));
  if (made < 0) return errno;
  if (made == number) return 0;
  const int error = fail_unless(syscall(SYS_dup3, made, number, 0));
  syscall(SYS_close, made);
  return error;
}

int act(const FileAction& action) {
  const int number = action.duplicate.descriptor, other = action.duplicate.other;
  switch (action.kind) {
    case FileAction::Kind::kClose:
      syscall(SYS_close, number);  // that it is not open is no error
      return 0;
    case FileAction::Kind::kDuplicate:
      // The same number twice takes close-on-exec away.
      return fail_unless(number == other ? syscall(SYS_fcntl, number, F_SETFD, 0)
                                         : syscall(SYS_dup3, number, other, 0));
    case FileAction::Kind::kOpen:
      return open_as(action);
    case FileAction::Kind::kChangeFolder:
      return fail_unless(syscall(SYS_chdir, action.folder));
    case FileAction::Kind::kChangeToOpenFolder:
      return fail_unless(syscall(SYS_fchdir, number));
    case FileAction::Kind::kCloseFrom:
      return fail_unless(syscall(SYS_close_range, number, ~0U, 0));
    case FileAction::Kind::kTakeTerminal: {
      pid_t group = static_cast<pid_t>(syscall(SYS_getpgid, 0));
      constexpr unsigned long kSetGroup = 0x5410;  // TIOCSPGRP
      return fail_unless(syscall(SYS_ioctl, number, kSetGroup, &group));
    }
  }
  return ENOSYS;
}

int act_all(const posix_spawn_file_actions_t* actions) {
  if (actions == nullptr) return 0;
  const auto* const all = reinterpret_cast<const FileAction*>(actions->__actions);
  for (int i = 0; i < actions->__used; ++i)
    if (const int error = act(all[i]); error != 0) return error;
  return 0;
}

int set_scheduling(const posix_spawnattr_t& attributes, short flags) {
  sched_param parameters{};
  posix_spawnattr_getschedparam(&attributes, &parameters);
  if ((flags & POSIX_SPAWN_SETSCHEDULER) != 0) {
    int policy = 0;
    posix_spawnattr_getschedpolicy(&attributes, &policy);
    return fail_unless(syscall(SYS_sched_setscheduler, 0, policy, &parameters));
  }
  if ((flags & POSIX_SPAWN_SETSCHEDPARAM) != 0)
    return fail_unless(syscall(SYS_sched_setparam, 0, &parameters));
  return 0;
}

int set_group_and_user(const posix_spawnattr_t& attributes, short flags) {
  pid_t group = 0;
  posix_spawnattr_getpgroup(&attributes, &group);
  if ((flags & POSIX_SPAWN_SETSID) != 0 && syscall(SYS_setsid) < 0) return errno;
  if ((flags & POSIX_SPAWN_SETPGROUP) != 0 && syscall(SYS_setpgid, 0, group) < 0) return errno;
  if ((flags & POSIX_SPAWN_RESETIDS) == 0) return 0;
  if (syscall(SYS_setresgid, -1, syscall(SYS_getgid), -1) < 0) return errno;
  return fail_unless(syscall(SYS_setresuid, -1, syscall(SYS_getuid), -1));
}

/// POSIX_SPAWN_SETCGROUP of glibc 2.39 and newer. The headers here may be older than the library: an older
/// library knows no such flag, and posix_spawnattr_setflags() refuses it.
constexpr short kSetControlGroup = 0x100;

/// The folder of the control group, which glibc keeps behind the policy.
int control_group_of(const posix_spawnattr_t& attributes) {
  int folder = -1;
  constexpr std::size_t kPlace = offsetof(posix_spawnattr_t, __policy) + sizeof attributes.__policy;
  std::memcpy(&folder, reinterpret_cast<const std::byte*>(&attributes) + kPlace, sizeof folder);
  return folder;
}

/// What CLONE_INTO_CGROUP of clone3() does, for a process that has one thread.
int enter_control_group(int folder) {
  struct statfs system {};
  if (syscall(SYS_fstatfs, folder, &system) != 0) return errno;
  constexpr auto kControlGroups = 0x63677270;  // CGROUP2_SUPER_MAGIC
  if (system.f_type != kControlGroups) return EBADF;
  const int processes = static_cast<int>(syscall(SYS_openat, folder, "cgroup.procs", O_WRONLY));
  if (processes < 0) return errno;
  const int error = fail_unless(syscall(SYS_write, processes, "0", 1));  // the caller
  syscall(SYS_close, processes);
  return error;
}

/// Ignored signals stay ignored; all others get the default action, as the handlers are the parent's.
void reset_handlers(const sigset_t& to_default, signals::Set ignored) {
  for (int number = 1; number <= signals::kSignals; ++number) {
    struct sigaction action {};
    if (signals::kernel_action(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL) continue;
    const bool is_ignored = action.sa_handler == SIG_IGN || (ignored & signals::bit_of(number)) != 0;
    action = {};
    action.sa_handler = is_ignored && sigismember(&to_default, number) == 0 ? SIG_IGN : SIG_DFL;
    signals::kernel_action(number, &action, nullptr);
  }
}

/// Sets the timers, and sends the signals, which the mask of the program blocks, to this process.
void keep(const KeptByExec& kept) {
  for (int which = ITIMER_REAL; which <= ITIMER_PROF; ++which)
    if (timerisset(&kept.timers[which].it_value)) syscall(SYS_setitimer, which, &kept.timers[which], nullptr);
  for (int i = 0; i < kept.count; ++i) {
    siginfo_t info = kept.pending[i];
    syscall(SYS_rt_sigqueueinfo, base::process_id(), info.si_signo, &info);
  }
}

int prepare(Start& start, signals::Set& mask) {
  short flags = 0;
  sigset_t to_default, chosen;
  sigemptyset(&to_default);
  if (const posix_spawnattr_t* const attributes = start.wanted.attributes) {
    posix_spawnattr_getflags(attributes, &flags);
    if ((flags & POSIX_SPAWN_SETSIGDEF) != 0) posix_spawnattr_getsigdefault(attributes, &to_default);
    if ((flags & POSIX_SPAWN_SETSIGMASK) != 0) {
      posix_spawnattr_getsigmask(attributes, &chosen);
      mask = signals::to_set(chosen);
    }
    if ((flags & kSetControlGroup) != 0)
      if (const int error = enter_control_group(control_group_of(*attributes)); error != 0) return error;
    if (const int error = set_scheduling(*attributes, flags); error != 0) return error;
    if (const int error = set_group_and_user(*attributes, flags); error != 0) return error;
  }
  reset_handlers(to_default, start.ignored);
  if (const int error = act_all(start.wanted.actions); error != 0) return error;
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource)
    if ((start.limits.differ >> resource & 1) != 0)
      syscall(SYS_prlimit64, 0, resource, &start.limits.all[resource], nullptr);
  if (start.wanted.kept != nullptr) keep(*start.wanted.kept);
  return 0;
}

/// The child. All signals are blocked.
int run(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  signals::Set mask = start.mask;
  start.error = prepare(start, mask);
  if (start.error == 0) {
    signals::set_kernel_mask(mask);
    syscall(SYS_execve, start.wanted.path, start.wanted.arguments, start.wanted.environment);
    start.error = errno;
  }
  for (;;) syscall(SYS_exit_group, 127);
}

/// posix_spawn() by a function of Clump's, because the C library's gives its child nothing else to do.
int spawn_by_clone(pid_t* child, Start& start) {
  static constinit Hidden<int(int (*)(void*), void*, int, void*, ...)> clone{"clone"};
  constexpr std::size_t kStack = std::size_t{64} << 10;
  const long stack =
      syscall(SYS_mmap, nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == -1) return errno;
  start.mask = signals::block_all();
  int error = 0;
  const pid_t made =
      (*clone)(run, reinterpret_cast<void*>(stack + kStack), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
  if (made < 0) {
    error = errno;
  } else if (start.error != 0) {
    error = start.error;
    while (syscall(SYS_wait4, made, nullptr, __WALL, nullptr) < 0 && errno == EINTR) {
    }
  }
  signals::set_kernel_mask(start.mask);
  syscall(SYS_munmap, stack, kStack);
  if (error == 0 && child != nullptr) *child = made;
  return error;
}

}  // namespace

void set_limits_hooks(const LimitsHooks& chosen) { hooks.store(&chosen, std::memory_order_relaxed); }

void prepare_child_for_exec() noexcept {
  signals::ignore_for_exec();
  if (const LimitsHooks* const known = hooks.load(std::memory_order_relaxed)) known->take_in_child();
}

int spawn_for_rank(pid_t* child, const ToSpawn& wanted) {
  static constinit Hidden<int(pid_t*, const char*, const posix_spawn_file_actions_t*,
                              const posix_spawnattr_t*, char* const*, char* const*)>
      real{"posix_spawn"};
  Start start{wanted, {}};
  start.ignored = signals::ignored_by_rank();
  if (wanted.kept != nullptr) start.ignored |= wanted.kept->ignored;
  const LimitsHooks* const known = hooks.load(std::memory_order_relaxed);
  if (known != nullptr && records_children()) known->of_caller(start.limits);
  const bool is_plain = start.limits.differ == 0 && start.ignored == 0 && wanted.kept == nullptr;
  if (is_plain || (wanted.actions != nullptr && !standard::knows_layout_of_actions()))
    return real(child, wanted.path, wanted.actions, wanted.attributes, wanted.arguments, wanted.environment);
  return spawn_by_clone(child, start);
}

}  // namespace clump::image
