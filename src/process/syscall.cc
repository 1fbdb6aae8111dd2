// syscall(): what a program asks of the kernel in this way is about its rank, as with the C library's
// function of the same purpose. Run-time libraries do so (OpenMP's, libnuma).
//
// Every system call that is not named here goes to the kernel unchanged. So do those of shared libraries,
// Clump's among them, which mean the kernel thread.
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/types.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "fiber/thread_settings.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/files/standard.h"
#include "process/ids.h"
#include "process/refusal.h"
#include "process/signals/state.h"
#include "process/syscall_waits.h"
#include "process/threads/settings.h"

// Older headers of the C library do not have them.
extern "C" {
int pidfd_open(pid_t process, unsigned flags) noexcept;
int pidfd_send_signal(int descriptor, int number, siginfo_t* info, unsigned flags);
}

// The linker's: the beginning of this library.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) library_begin asm("__ehdr_start");

namespace clump::image {
namespace {

using Real = long(long, long, long, long, long, long, long);

/// The name of a system call that would affect a kernel thread on which other ranks run as well, and could
/// not be undone; null for others. The C library's functions of these names are in process_only.cc.
const char* call_of_all(long number) {
  switch (number) {
    case SYS_capset:
      return "syscall(SYS_capset)";
    case SYS_personality:
      return "syscall(SYS_personality)";
    case SYS_pkey_alloc:
      return "syscall(SYS_pkey_alloc)";
    case SYS_ptrace:
      return "syscall(SYS_ptrace)";
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
    case SYS_prctl:
    case SYS_set_mempolicy:
    case SYS_ioprio_set:
    case SYS_ioprio_get:
#ifdef SYS_arch_prctl
    case SYS_arch_prctl:
#endif
      return true;
    default:
      return call_of_all(number) != nullptr;
  }
}

/// Whether it is about signals and their timers; for ranks that are kernel threads, too.
bool is_about_signals(long number) {
  switch (number) {
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_setitimer:
    case SYS_getitimer:
#if defined(SYS_alarm)
    case SYS_alarm:
    case SYS_pause:
#endif
      return true;
    default:
      return false;
  }
}

/// Whether it is about the numbers of processes; also in a child of a rank.
bool is_about_process_ids(long number) {
  switch (number) {
    case SYS_getpid:
    case SYS_getppid:
    case SYS_setpgid:
    case SYS_kill:
    case SYS_rt_sigqueueinfo:
    case SYS_pidfd_open:
    case SYS_pidfd_send_signal:
      return true;
    default:
      return false;
  }
}

bool is_about_descriptor(long number) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_lseek:
    case SYS_ioctl:
    case SYS_fcntl:
    case SYS_flock:
    case SYS_dup:
#ifdef SYS_dup2
    case SYS_dup2:
#endif
    case SYS_dup3:
    case SYS_close:
    case SYS_close_range:
      return true;
    default:
      return false;
  }
}

/// Whether it returns a new descriptor, or makes two. The C library's functions are in files/descriptors.cc
/// and files/descriptor_makers.cc.
bool makes_descriptor(long number) {
  switch (number) {
#ifdef SYS_open
    case SYS_open:
    case SYS_creat:
    case SYS_eventfd:
    case SYS_epoll_create:
    case SYS_inotify_init:
    case SYS_pipe:
#endif
    case SYS_openat:
    case SYS_openat2:
    case SYS_socket:
    case SYS_accept:
    case SYS_accept4:
    case SYS_eventfd2:
    case SYS_epoll_create1:
    case SYS_timerfd_create:
    case SYS_memfd_create:
    case SYS_inotify_init1:
    case SYS_pidfd_open:
    case SYS_pidfd_getfd:
    case SYS_perf_event_open:
    case SYS_userfaultfd:
    case SYS_open_by_handle_at:
    case SYS_pipe2:
    case SYS_socketpair:
      return true;
    default:
      return false;
  }
}

/// The name of a system call that acts on the process in a way that no rank can have for itself; null for
/// others.
const char* call_of_process(long number) {
  switch (number) {
    case SYS_clone3:
      return "syscall(SYS_clone3)";
    case SYS_io_uring_setup:
      return "syscall(SYS_io_uring_setup)";
    default:
      return nullptr;
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

long make_descriptor(Real* real, long number, const long (&all)[6], const void* caller) {
  const long made = real(number, all[0], all[1], all[2], all[3], all[4], all[5]);
  int* ends = number == SYS_pipe2 ? pointer<int>(all[0]) : nullptr;
  if (number == SYS_socketpair) ends = pointer<int>(all[3]);
#ifdef SYS_pipe
  if (number == SYS_pipe) ends = pointer<int>(all[0]);
#endif
  if (ends == nullptr || made < 0) return standard::place_lowest(static_cast<int>(made), caller);
  ends[0] = standard::place_lowest(ends[0], caller);
  ends[1] = standard::place_lowest(ends[1], caller);
  return made;
}

long call_for_process(Real* real, long number, const long (&all)[6], const void* caller) {
  if (const char* const call = call_of_process(number))
    refuse(call, number == SYS_clone3 ? "makes a child of the process"
                                      : "has the kernel use descriptors of the process");
  return make_descriptor(real, number, all, caller);
}

/// Calls the interposed C library's function of the same purpose, which knows what a descriptor is to the
/// rank.
long call_for_descriptor(long number, int descriptor, long b, long c, const void* caller) {
  switch (number) {
    case SYS_read:
      return read(descriptor, pointer<void>(b), static_cast<std::size_t>(c));
    case SYS_readv:
      return readv(descriptor, pointer<const iovec>(b), static_cast<int>(c));
    case SYS_write:
      return write(descriptor, pointer<const void>(b), static_cast<std::size_t>(c));
    case SYS_writev:
      return writev(descriptor, pointer<const iovec>(b), static_cast<int>(c));
    case SYS_lseek:
      return lseek(descriptor, b, static_cast<int>(c));
    case SYS_ioctl:
      return ioctl(descriptor, static_cast<unsigned long>(b), c);
    case SYS_fcntl:
      if (b == F_DUPFD || b == F_DUPFD_CLOEXEC)
        return standard::duplicate(descriptor, static_cast<int>(c), b == F_DUPFD_CLOEXEC, caller);
      return fcntl(descriptor, static_cast<int>(b), c);
    case SYS_flock:
      return flock(descriptor, static_cast<int>(b));
    case SYS_dup:
      return standard::duplicate(descriptor, 0, false, caller);
#ifdef SYS_dup2
    case SYS_dup2:
      if (descriptor == b) return dup2(descriptor, descriptor);
      return standard::replace(descriptor, static_cast<int>(b), false, caller);
#endif
    case SYS_dup3:
      if (descriptor == b || (c & ~O_CLOEXEC) != 0) return failed(EINVAL);
      return standard::replace(descriptor, static_cast<int>(b), c != 0, caller);
    case SYS_close_range:
      return standard::close_range(static_cast<unsigned>(descriptor), static_cast<unsigned>(b),
                                   static_cast<int>(c), caller);
    default:
      return standard::close(descriptor, caller);
  }
}

/// The kernel's sets of signals are shorter than those of the C library.
long change_signal_mask(long how, const std::uint64_t* wanted, std::uint64_t* before, long bytes) {
  if (bytes != sizeof *wanted) return failed(EINVAL);
  sigset_t set, last;
  sigemptyset(&set);
  if (wanted != nullptr) __builtin_memcpy(&set, wanted, sizeof *wanted);
  const int error = signals::change_mask(static_cast<int>(how), wanted != nullptr ? &set : nullptr, &last);
  if (error == 0 && before != nullptr) __builtin_memcpy(before, &last, sizeof *before);
  return failed(error);
}

/// The kernel's own struct sigaction.
struct KernelAction {
  sighandler_t handler;
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};

long change_action(long number, const KernelAction* wanted, KernelAction* before, long bytes) {
  if (bytes != sizeof wanted->mask) return failed(EINVAL);
  struct sigaction action {};
  struct sigaction last {};
  if (wanted != nullptr) {
    constexpr unsigned long kHasRestorer = 0x04000000;
    action.sa_handler = wanted->handler;
    action.sa_flags = static_cast<int>(wanted->flags & ~kHasRestorer);
    action.sa_mask = signals::to_sigset(wanted->mask);
  }
  if (sigaction(static_cast<int>(number), wanted != nullptr ? &action : nullptr, &last) != 0) return -1;
  if (before != nullptr)
    *before = {last.sa_handler, static_cast<unsigned long>(last.sa_flags), nullptr,
               signals::to_set(last.sa_mask)};
  return 0;
}

long call_for_signals(long number, long a, long b, long c, long d) {
  switch (number) {
    case SYS_tkill:
      return tgkill(process_ids::mine(), static_cast<pid_t>(a), static_cast<int>(b));
    case SYS_tgkill:
      return tgkill(static_cast<pid_t>(a), static_cast<pid_t>(b), static_cast<int>(c));
    case SYS_rt_sigaction:
      return change_action(a, pointer<const KernelAction>(b), pointer<KernelAction>(c), d);
    case SYS_rt_sigprocmask:
      return change_signal_mask(a, pointer<const std::uint64_t>(b), pointer<std::uint64_t>(c), d);
    case SYS_setitimer:
      return setitimer(static_cast<__itimer_which>(a), pointer<const itimerval>(b), pointer<itimerval>(c));
    case SYS_getitimer:
      return getitimer(static_cast<__itimer_which>(a), pointer<itimerval>(b));
#if defined(SYS_alarm)
    case SYS_alarm:
      return alarm(static_cast<unsigned>(a));
    default:  // SYS_pause
      return pause();
#else
    default:
      return failed(ENOSYS);
#endif
  }
}

long call_for_process_ids(long number, long a, long b, long c, long d) {
  const auto process = static_cast<pid_t>(a);
  const auto second = static_cast<int>(b);
  switch (number) {
    case SYS_getpid:
      return process_ids::mine();
    case SYS_getppid:
      return getppid();
    case SYS_setpgid:
      return setpgid(process, second);
    case SYS_kill:
      return kill(process, second);
    case SYS_rt_sigqueueinfo:
      return signals::queue(process, second, pointer<const siginfo_t>(c));
    case SYS_pidfd_open:
      return pidfd_open(process, static_cast<unsigned>(b));
    default:  // SYS_pidfd_send_signal
      return pidfd_send_signal(static_cast<int>(a), second, pointer<siginfo_t>(c), static_cast<unsigned>(d));
  }
}

/// Whether ioprio_set(2) with these arguments is about the calling thread.
bool is_calling_thread(long which, long thread) {
  constexpr long kOfThread = 1;  // IOPRIO_WHO_PROCESS
  return which == kOfThread && (thread == 0 || thread == fiber::own_kernel_thread());
}

/// Whether the C library's function of the same name does it for a rank of either kind: starts and ends
/// programs, or waits for children.
bool is_about_process(long number) {
  switch (number) {
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit_group:
    case SYS_clone:
#ifdef SYS_fork
    case SYS_fork:
#endif
    case SYS_wait4:
    case SYS_waitid:
    case SYS_personality:
      return true;
    default:
      return false;
  }
}

/// The system call of a rank with an image.
long call_for_rank(Real* real, long number, long a, long b, long c, long d, long e) {
  const auto type = static_cast<idtype_t>(a);
  const auto id = static_cast<id_t>(b);
  long made = 0;
  switch (number) {
    case SYS_execve:
      return execve(pointer<const char>(a), pointer<char* const>(b), pointer<char* const>(c));
    case SYS_execveat:
      return execveat(static_cast<int>(a), pointer<const char>(b), pointer<char* const>(c),
                      pointer<char* const>(d), static_cast<int>(e));
    case SYS_exit_group:
      _exit(static_cast<int>(a));
    case SYS_wait4:
      return wait4(static_cast<pid_t>(a), pointer<int>(b), static_cast<int>(c), pointer<rusage>(d));
    case SYS_waitid:
      return wait_by_id(type, id, pointer<siginfo_t>(c), static_cast<int>(d), pointer<rusage>(e));
    case SYS_personality:
      return personality(static_cast<unsigned long>(a));
    default:  // starts a process, or a thread
      // Only fork() clears what such a child has to forget.
      if (number != SYS_clone || (a == SIGCHLD && b == 0)) return fork();
      made = real(number, a, b, c, d, e, 0);
      if (made > 0 && (a & (CLONE_THREAD | CLONE_PARENT)) == 0) note_child(static_cast<pid_t>(made));
      return made;
  }
}

/// The system call of a rank that is a fiber.
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
    case SYS_prctl:
      refuse_option_of_process(static_cast<int>(a));
      return prctl_of_fiber(static_cast<int>(a), b, c, d, e);
    case SYS_set_mempolicy:
      return fiber::change_memory_policy(static_cast<int>(a), pointer<const std::uint64_t>(b),
                                         static_cast<std::uint64_t>(c));
    case SYS_ioprio_set:
      return is_calling_thread(a, b) ? fiber::change_io_priority(static_cast<int>(c))
                                     : real(number, a, b, c, d, 0, 0);
    case SYS_ioprio_get:
      return real(number, a, is_calling_thread(a, b) ? 0 : b, c, d, 0, 0);
#ifdef SYS_arch_prctl
    case SYS_arch_prctl:
      if (a == ARCH_SET_GS || a == ARCH_SET_FS)
        refuse("syscall(SYS_arch_prctl)", "changes registers of the kernel thread that runs the rank");
      return real(number, a, b, c, d, 0, 0);
#endif
    default:
      if (const char* const call = call_of_all(number))
        refuse(call, "changes the kernel thread that runs the rank");
      // The calls about cores.
      return real(number, a == 0 ? fiber::own_kernel_thread() : a, b, c, d, 0, 0);
  }
}

/// Whether the address is in this library, which means the kernel's call wherever it calls syscall().
bool is_own_code(const void* address) {
  static constinit std::atomic<std::uintptr_t> bytes{0};
  std::uintptr_t end = bytes.load(std::memory_order_relaxed);  // relaxed: each thread would store the same
  const auto begin = reinterpret_cast<std::uintptr_t>(&library_begin);
  if (end == 0) [[unlikely]] {
    const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(begin + library_begin.e_phoff);
    for (int i = 0; i < library_begin.e_phnum; ++i)
      if (segments[i].p_type == PT_LOAD) end = std::max(end, segments[i].p_vaddr + segments[i].p_memsz);
    bytes.store(end, std::memory_order_relaxed);
  }
  return reinterpret_cast<std::uintptr_t>(address) - begin < end;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the function below is the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API long call_kernel(long number, long a, long b, long c, long d, long e, long f) asm("syscall");
long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
  static constinit Hidden<Real> real{"syscall"};
  if (is_own_code(__builtin_return_address(0))) return (*real)(number, a, b, c, d, e, f);
  if (is_about_thread(number) && clump::fiber::rank_fiber() != nullptr && captured() &&
      image_at(__builtin_return_address(0)) != nullptr) [[unlikely]]
    return call_for_fiber(*real, number, a, b, c, d, e);
  if (is_about_process(number) && records_children() && image_at(__builtin_return_address(0)) != nullptr)
      [[unlikely]]
    return call_for_rank(*real, number, a, b, c, d, e);
  if (is_about_signals(number) && signals::is_ours() && image_at(__builtin_return_address(0)) != nullptr)
      [[unlikely]]
    return call_for_signals(number, a, b, c, d);
  if (is_about_waits_or_limits(number) && records_children() &&
      image_at(__builtin_return_address(0)) != nullptr) [[unlikely]]
    return call_for_waits_or_limits(number, {a, b, c, d, e, f});
  if (is_about_process_ids(number) && captured() && image_at(__builtin_return_address(0)) != nullptr)
      [[unlikely]]
    return call_for_process_ids(number, a, b, c, d);
  if (is_about_descriptor(number) && captured() && image_at(__builtin_return_address(0)) != nullptr)
      [[unlikely]]
    return call_for_descriptor(number, static_cast<int>(a), b, c, __builtin_return_address(0));
  if ((makes_descriptor(number) || call_of_process(number) != nullptr) && records_children() &&
      image_at(__builtin_return_address(0)) != nullptr) [[unlikely]]
    return call_for_process(*real, number, {a, b, c, d, e, f}, __builtin_return_address(0));
  return (*real)(number, a, b, c, d, e, f);
}

}  // extern "C"
