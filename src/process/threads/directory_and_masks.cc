// What a process has once and a program changes for itself: working directory, file mode mask, signal mask. A
// rank that is a fiber has its own: see fiber/kernel_state.h. A rank that is a kernel thread has those that
// the kernel keeps for the thread.
#undef _FORTIFY_SOURCE  // which gives longjmp() another name
#include <fcntl.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "base/types.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "image/fork_locks.h"
#include "image/jump.h"
#include "image/symbols.h"
#include "process/files/record_locks.h"
#include "process/signals/state.h"
#include "process/threads/thread_directory.h"

namespace clump::image {
namespace {

using fiber::rank_fiber;

/// Before a jump. Sets the saved signal mask: the C library would set it by a system call that is not seen
/// here.
void restore_signals(const __jmp_buf_tag& place) {
  const Jump jump(__builtin_frame_address(0), place);
  locks::leave_by(jump);
  NoFork::leave_by(jump);
  if (signals::is_ours() && place.__mask_was_saved != 0) {
    sigset_t mask;
    static_assert(sizeof mask == sizeof place.__saved_mask);
    __builtin_memcpy(&mask, &place.__saved_mask, sizeof mask);
    (void)signals::change_mask(SIG_SETMASK, &mask, nullptr);
  }
}

/// Tells the rank's threads, which have the same directory, of a change.
int told(int result) {
  if (result == 0) signals::tell_threads();
  return result;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
namespace fiber = clump::fiber;
using fiber::rank_fiber;

extern "C" {

CLUMP_HOST_API int chdir(const char* path) noexcept {
  static constinit Hidden<int(const char*)> real{"chdir"};
  if (rank_fiber() != nullptr) return told(fiber::change_directory(AT_FDCWD, path));
  signals::refuse_change_by_thread("chdir()");
  return real(path);
}

CLUMP_HOST_API int fchdir(int descriptor) noexcept {
  static constinit Hidden<int(int)> real{"fchdir"};
  if (rank_fiber() == nullptr) {
    signals::refuse_change_by_thread("fchdir()");
    return real(descriptor);
  }
  if (descriptor < 0) {
    errno = EBADF;
    return -1;
  }
  return told(fiber::change_directory(descriptor, "."));
}

CLUMP_HOST_API mode_t umask(mode_t mask) noexcept {
  static constinit Hidden<mode_t(mode_t)> real{"umask"};
  if (rank_fiber() == nullptr) {
    signals::refuse_change_by_thread("umask()");
    return real(mask);
  }
  const mode_t before = fiber::change_file_mask(mask);
  signals::tell_threads();
  return before;
}

// What this unblocks may run a handler that ends the thread: see signals/kill.cc.

CLUMP_HOST_API int call_pthread_sigmask(int how, const sigset_t* set,
                                        sigset_t* before) asm("pthread_sigmask");
int call_pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  static constinit Hidden<int(int, const sigset_t*, sigset_t*)> real{"pthread_sigmask"};
  return !signals::is_ours() ? real(how, set, before) : signals::change_mask(how, set, before);
}

CLUMP_HOST_API int call_sigprocmask(int how, const sigset_t* set, sigset_t* before) asm("sigprocmask");
int call_sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  static constinit Hidden<int(int, const sigset_t*, sigset_t*)> real{"sigprocmask"};
  if (!signals::is_ours()) return real(how, set, before);
  const int error = signals::change_mask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

[[noreturn]] CLUMP_HOST_API void call_longjmp(__jmp_buf_tag place[1], int value) asm("longjmp");
void call_longjmp(__jmp_buf_tag place[1], int value) {
  static constinit Hidden<void(__jmp_buf_tag*, int)> real{"longjmp"};
  restore_signals(place[0]);
  real(place, value);
  __builtin_unreachable();
}

[[noreturn]] CLUMP_HOST_API void call_old_longjmp(__jmp_buf_tag place[1], int value) asm("_longjmp");
void call_old_longjmp(__jmp_buf_tag place[1], int value) { call_longjmp(place, value); }

[[noreturn]] CLUMP_HOST_API void call_siglongjmp(sigjmp_buf place, int value) asm("siglongjmp");
void call_siglongjmp(sigjmp_buf place, int value) { call_longjmp(place, value); }

/// The names of the two functions above with -D_FORTIFY_SOURCE.
[[noreturn]] CLUMP_HOST_API void __longjmp_chk(__jmp_buf_tag place[1], int value) {
  static constinit Hidden<void(__jmp_buf_tag*, int)> real{"__longjmp_chk"};
  restore_signals(place[0]);
  real(place, value);
  __builtin_unreachable();
}

CLUMP_HOST_API pid_t gettid() noexcept { return fiber::own_kernel_thread(); }

/// A signal stack belongs to a kernel thread. The worker thread of a fiber has one of Clump's. The fiber's
/// own signal stack is where those of its handlers run that ask for it (SA_ONSTACK).
CLUMP_HOST_API int sigaltstack(const stack_t* wanted, stack_t* before) noexcept {
  static constinit Hidden<int(const stack_t*, stack_t*)> real{"sigaltstack"};
  if (rank_fiber() == nullptr) return real(wanted, before);
  stack_t& mine = signals::mine().stack;
  stack_t last = mine;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<std::uintptr_t>(mine.ss_sp);
  const bool in_use = (mine.ss_flags & SS_DISABLE) == 0 && here >= begin && here < begin + mine.ss_size;
  if (in_use) last.ss_flags |= SS_ONSTACK;
  if (wanted != nullptr) {
    constexpr unsigned kKnown = SS_DISABLE | SS_ONSTACK | 1U << 31;  // SS_AUTODISARM
    const bool small =
        (wanted->ss_flags & SS_DISABLE) == 0 && wanted->ss_size < static_cast<std::size_t>(MINSIGSTKSZ);
    if ((static_cast<unsigned>(wanted->ss_flags) & ~kKnown) != 0 || small) {
      errno = small ? ENOMEM : EINVAL;
      return -1;
    }
    if (in_use) {
      errno = EPERM;
      return -1;
    }
    mine = *wanted;
  }
  if (before != nullptr) *before = last;
  return 0;
}

}  // extern "C"
