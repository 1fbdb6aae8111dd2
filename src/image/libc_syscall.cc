// syscall(): what a program says to the kernel in this way is about its rank, as what it says through the C
// library's function of the same purpose. Run-time libraries do so (OpenMP's, libnuma).
//
// All that is not named here goes to the kernel as it is, and so does what shared libraries, ours among them,
// say: they mean the kernel thread.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/types.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "fiber/thread_settings.h"
#include "image/libc_thread.h"
#include "image/rank_image.h"
#include "image/refusal.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

using Real = long(long, long, long, long, long, long, long);

/// What would hold for a kernel thread that other ranks run on as well, and cannot be taken back. The C
/// library's functions of these names are in process_only.cc.
const char* call_of_all(long number) {
  switch (number) {
    case SYS_capset:
      return "syscall(SYS_capset)";
    case SYS_personality:
      return "syscall(SYS_personality)";
    case SYS_sched_setattr:
      return "syscall(SYS_sched_setattr)";
    case SYS_sched_setparam:
      return "syscall(SYS_sched_setparam)";
    case SYS_sched_setscheduler:
      return "syscall(SYS_sched_setscheduler)";
    case SYS_seccomp:
      return "syscall(SYS_seccomp)";
    case SYS_setfsgid:
      return "syscall(SYS_setfsgid)";
    case SYS_setfsuid:
      return "syscall(SYS_setfsuid)";
    case SYS_setgid:
      return "syscall(SYS_setgid)";
    case SYS_setgroups:
      return "syscall(SYS_setgroups)";
    case SYS_setns:
      return "syscall(SYS_setns)";
    case SYS_setpriority:
      return "syscall(SYS_setpriority)";
    case SYS_setregid:
      return "syscall(SYS_setregid)";
    case SYS_setresgid:
      return "syscall(SYS_setresgid)";
    case SYS_setresuid:
      return "syscall(SYS_setresuid)";
    case SYS_setreuid:
      return "syscall(SYS_setreuid)";
    case SYS_setuid:
      return "syscall(SYS_setuid)";
    case SYS_unshare:
      return "syscall(SYS_unshare)";
    default:
      return nullptr;
  }
}

bool is_about_thread(long number) {
  switch (number) {
    case SYS_gettid:
    case SYS_sched_getaffinity:
    case SYS_sched_setaffinity:
    case SYS_chdir:
    case SYS_fchdir:
    case SYS_umask:
    case SYS_rt_sigprocmask:
    case SYS_prctl:
    case SYS_set_mempolicy:
    case SYS_ioprio_set:
    case SYS_ioprio_get:
      return true;
    default:
      return call_of_all(number) != nullptr;
  }
}

template <typename T>
T* pointer(long argument) {
  return reinterpret_cast<T*>(argument);
}

long failed(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

/// The kernel's sets of signals are shorter than the C library's.
long change_signal_mask(long how, const std::uint64_t* wanted, std::uint64_t* before, long bytes) {
  if (bytes != sizeof *wanted) return failed(EINVAL);
  sigset_t set, last;
  sigemptyset(&set);
  if (wanted != nullptr) __builtin_memcpy(&set, wanted, sizeof *wanted);
  const int error =
      fiber::change_signal_mask(static_cast<int>(how), wanted != nullptr ? &set : nullptr, &last);
  if (error == 0 && before != nullptr) __builtin_memcpy(before, &last, sizeof *before);
  return failed(error);
}

/// As ioprio_set(2) names it.
bool is_calling_thread(long which, long thread) {
  constexpr long kOfThread = 1;  // IOPRIO_WHO_PROCESS
  return which == kOfThread && (thread == 0 || thread == fiber::own_kernel_thread());
}

/// By a rank that is a fiber.
long call_for_fiber(Real* real, long number, long a, long b, long c, long d, long e) {
  switch (number) {
    case SYS_gettid:
      return fiber::own_kernel_thread();
    case SYS_chdir:
      return chdir(pointer<const char>(a));
    case SYS_fchdir:
      return fchdir(static_cast<int>(a));
    case SYS_umask:
      return umask(static_cast<mode_t>(a));
    case SYS_rt_sigprocmask:
      return change_signal_mask(a, pointer<const std::uint64_t>(b), pointer<std::uint64_t>(c), d);
    case SYS_prctl:
      return prctl_of_fiber(static_cast<int>(a), b, c, d, e);
    case SYS_set_mempolicy:
      return fiber::change_memory_policy(static_cast<int>(a), pointer<const std::uint64_t>(b),
                                         static_cast<std::uint64_t>(c));
    case SYS_ioprio_set:
      return is_calling_thread(a, b) ? fiber::change_io_priority(static_cast<int>(c))
                                     : real(number, a, b, c, d, 0, 0);
    case SYS_ioprio_get:
      return real(number, a, is_calling_thread(a, b) ? 0 : b, c, d, 0, 0);
    default:
      if (const char* const call = call_of_all(number))
        refuse(call, "changes the kernel thread that runs the rank");
      // Of cores.
      return real(number, a == 0 ? fiber::own_kernel_thread() : a, b, c, d, 0, 0);
  }
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the function below is the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API long call_kernel(long number, long a, long b, long c, long d, long e, long f) asm("syscall");
long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
  static constinit Hidden<Real> real{"syscall"};
  if (is_about_thread(number) && clump::fiber::rank_fiber() != nullptr && captured() &&
      image_at(__builtin_return_address(0)) != nullptr) [[unlikely]]
    return call_for_fiber(*real, number, a, b, c, d, e);
  return (*real)(number, a, b, c, d, e, f);
}

}  // extern "C"
