// Signals that a rank sends to itself or to its threads. The number of its process is that of all ranks
// here, and means the rank that names it. What goes to other processes, and to the process group (which
// mpiexec and all ranks of this host are in), is the kernel's.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/types.h"
#include "image/signal_state.h"
#include "image/symbols.h"

namespace clump::image::signals {
namespace {

fiber::Identity& own_rank() { return *fiber::identity(); }

/// A signal to the calling rank, or to a thread of it: 0, or an error number.
int send(Thread* to, const siginfo_t& info) {
  const int number = info.si_signo;
  if (number == 0) return 0;
  if (number < 0 || number > kHighest || number == 32 || number == 33) return EINVAL;
  if (number == SIGSTOP) {
    ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGSTOP);
    return 0;
  }
  if (number == SIGKILL) runtime().end_rank(own_rank(), number, info, true, nullptr);
  return direct(own_rank(), to, info);
}

int with_errno(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

siginfo_t with_value(int number, sigval value) {
  siginfo_t info = make_info(number, SI_QUEUE);
  info.si_value = value;
  return info;
}

/// The calling rank's; null if it has none such.
template <typename Match>
Thread* find_thread(Match match) {
  (void)mine();  // enlisted
  const Guard guard;
  for (Thread* thread = state_of(own_rank()).threads; thread != nullptr; thread = thread->next)
    if (match(*thread)) return thread;
  return nullptr;
}

Thread* find_thread(pthread_t handle) {
  return find_thread([&](const Thread& thread) { return pthread_equal(thread.handle, handle) != 0; });
}

bool is_own_process(pid_t process) { return process == ::getpid(); }

/// After a signal to the process group: what has come to this rank by it, the caller attends to before it
/// goes on.
int attended(int result) {
  const int error = errno;
  if (is_ours()) attend(mine());
  errno = error;
  return result;
}

}  // namespace
}  // namespace clump::image::signals

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using namespace clump::image::signals;

extern "C" {

CLUMP_HOST_API int raise(int number) noexcept {
  static constinit Hidden<int(int)> real{"raise"};
  return is_ours() ? with_errno(send(&mine(), make_info(number, SI_TKILL))) : real(number);
}

CLUMP_HOST_API int gsignal(int number) noexcept { return raise(number); }

CLUMP_HOST_API int kill(pid_t process, int number) noexcept {
  static constinit Hidden<int(pid_t, int)> real{"kill"};
  if (is_ours() && is_own_process(process)) return with_errno(send(nullptr, make_info(number, SI_USER)));
  return attended(real(process, number));
}

CLUMP_HOST_API int killpg(pid_t group, int number) noexcept {
  static constinit Hidden<int(pid_t, int)> real{"killpg"};
  return attended(real(group, number));
}

CLUMP_HOST_API int sigqueue(pid_t process, int number, const sigval value) noexcept {
  static constinit Hidden<int(pid_t, int, const sigval)> real{"sigqueue"};
  if (!is_ours() || !is_own_process(process)) return real(process, number, value);
  return with_errno(send(nullptr, with_value(number, value)));
}

CLUMP_HOST_API int pthread_kill(pthread_t handle, int number) noexcept {
  static constinit Hidden<int(pthread_t, int)> real{"pthread_kill"};
  Thread* const thread = is_ours() ? find_thread(handle) : nullptr;
  return thread != nullptr ? send(thread, make_info(number, SI_TKILL)) : real(handle, number);
}

CLUMP_HOST_API int pthread_sigqueue(pthread_t handle, int number, const sigval value) noexcept {
  static constinit Hidden<int(pthread_t, int, const sigval)> real{"pthread_sigqueue"};
  Thread* const thread = is_ours() ? find_thread(handle) : nullptr;
  return thread != nullptr ? send(thread, with_value(number, value)) : real(handle, number, value);
}

CLUMP_HOST_API int tgkill(pid_t process, pid_t number_of_thread, int number) noexcept {
  static constinit Hidden<int(pid_t, pid_t, int)> real{"tgkill"};
  Thread* const thread =
      is_ours() && is_own_process(process)
          ? find_thread([&](const Thread& each) { return each.number == number_of_thread; })
          : nullptr;
  if (thread == nullptr) return real(process, number_of_thread, number);
  return with_errno(send(thread, make_info(number, SI_TKILL)));
}

/// The C library's would put the default action back for the whole process.
CLUMP_HOST_API void abort() noexcept {
  static constinit Hidden<void()> real{"abort"};
  if (is_ours()) {
    Thread& self = mine();
    set_blocked(self, self.blocked.load(std::memory_order_relaxed) & ~bit_of(SIGABRT));
    const siginfo_t info = make_info(SIGABRT, SI_TKILL);
    (void)send(&self, info);
    runtime().end_rank(own_rank(), SIGABRT, info, true, nullptr);  // ignored, or its handler has returned
  }
  real();
  __builtin_unreachable();
}

}  // extern "C"
