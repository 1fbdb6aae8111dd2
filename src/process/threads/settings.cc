// What the kernel keeps for a thread and a program changes by prctl() or by name, for a rank that is a fiber.
// It is kept independently of the kernel thread that runs the rank: in thread_settings.h, or by the rank's
// own kernel thread, which has the rank's name.
#include "process/threads/settings.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/types.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "fiber/thread_settings.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/refusal.h"

namespace clump::image {
namespace {

constexpr std::size_t kNameBytes = 16;  // with the null

/// Opens /proc/self/task/N/comm of the calling fiber's own kernel thread; -1 with errno.
int open_name(int flags) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", fiber::own_kernel_thread());
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC));
}

/// Sets the name: 0, or -1 with errno.
int set_name(const char* name) {
  const int file = open_name(O_WRONLY);
  if (file < 0) return -1;
  const long written = ::syscall(SYS_write, file, name, strnlen(name, kNameBytes - 1));
  ::syscall(SYS_close, file);
  return written >= 0 ? 0 : -1;
}

/// Gets the name: 0, or -1 with errno. `name` has room for kNameBytes.
int get_name(char* name) {
  const int file = open_name(O_RDONLY);
  if (file < 0) return -1;
  const long bytes = ::syscall(SYS_read, file, name, kNameBytes);
  ::syscall(SYS_close, file);
  if (bytes <= 0) return -1;
  name[bytes - 1] = '\0';  // a line break
  return 0;
}

/// The name of an option of prctl() that would affect a kernel thread on which other ranks run as well, and
/// could not be undone; null for others.
const char* option_of_all(int option) {
  switch (option) {
    case PR_SET_NO_NEW_PRIVS:
      return "prctl(PR_SET_NO_NEW_PRIVS)";
    case PR_SET_SECCOMP:
      return "prctl(PR_SET_SECCOMP)";
    case PR_SET_SECUREBITS:
      return "prctl(PR_SET_SECUREBITS)";
    case PR_SET_KEEPCAPS:
      return "prctl(PR_SET_KEEPCAPS)";
    case PR_CAPBSET_DROP:
      return "prctl(PR_CAPBSET_DROP)";
    case PR_CAP_AMBIENT:
      return "prctl(PR_CAP_AMBIENT)";
    case PR_SET_TSC:
      return "prctl(PR_SET_TSC)";
    case PR_SET_SPECULATION_CTRL:
      return "prctl(PR_SET_SPECULATION_CTRL)";
    case PR_MCE_KILL:
      return "prctl(PR_MCE_KILL)";
    case PR_SET_FP_MODE:
      return "prctl(PR_SET_FP_MODE)";
    default:
      return nullptr;
  }
}

bool is_itself(pthread_t thread) {
  return fiber::rank_fiber() != nullptr && pthread_equal(thread, pthread_self()) != 0;
}

}  // namespace

void refuse_option_of_process(int option) {
  if (option == PR_SET_CHILD_SUBREAPER && records_children())
    refuse("prctl(PR_SET_CHILD_SUBREAPER)", "makes orphans children of the process");
}

long prctl_of_fiber(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  // The rank ends with mpiexec whatever it asks for, so the value is only remembered.
  static thread_local int signal_at_parents_death = 0;
  switch (option) {
    case PR_SET_NAME:
      return set_name(reinterpret_cast<const char*>(a));
    case PR_GET_NAME:
      return get_name(reinterpret_cast<char*>(a));
    case PR_SET_TIMERSLACK:
      return fiber::change_timer_slack(a);
    case PR_SET_PDEATHSIG:
      if (a >= 65) {
        errno = EINVAL;
        return -1;
      }
      signal_at_parents_death = static_cast<int>(a);
      return 0;
    case PR_GET_PDEATHSIG:
      *reinterpret_cast<int*>(a) = signal_at_parents_death;
      return 0;
    default:
      if (const char* const call = option_of_all(option))
        refuse(call, "changes the kernel thread that runs the rank");
      return ::syscall(SYS_prctl, option, a, b, c, d);
  }
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int call_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                              unsigned long d) noexcept asm("prctl");
int call_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) noexcept {
  static constinit Hidden<int(int, unsigned long, unsigned long, unsigned long, unsigned long)> real{"prctl"};
  refuse_option_of_process(option);
  if (clump::fiber::rank_fiber() == nullptr) return real(option, a, b, c, d);
  return static_cast<int>(prctl_of_fiber(option, a, b, c, d));
}

// For other threads of the rank the kernel does it. For a fiber only the default policy is possible.
CLUMP_HOST_API int pthread_setschedparam(pthread_t thread, int policy, const sched_param* wanted) noexcept {
  static constinit Hidden<int(pthread_t, int, const sched_param*)> real{"pthread_setschedparam"};
  if (is_itself(thread) && policy != SCHED_OTHER)
    refuse("pthread_setschedparam(pthread_self())",
           "changes how the kernel schedules the thread that runs the rank");
  return real(thread, policy, wanted);
}

CLUMP_HOST_API int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  static constinit Hidden<int(pthread_t, const char*)> real{"pthread_setname_np"};
  if (!is_itself(thread)) return real(thread, name);
  if (std::strlen(name) >= kNameBytes) return ERANGE;
  const int before = errno;
  const int error = set_name(name) == 0 ? 0 : errno;
  errno = before;
  return error;
}

CLUMP_HOST_API int pthread_getname_np(pthread_t thread, char* name, size_t bytes) noexcept {
  static constinit Hidden<int(pthread_t, char*, size_t)> real{"pthread_getname_np"};
  if (!is_itself(thread)) return real(thread, name, bytes);
  if (bytes < kNameBytes) return ERANGE;
  const int before = errno;
  const int error = get_name(name) == 0 ? 0 : errno;
  errno = before;
  return error;
}

}  // extern "C"
