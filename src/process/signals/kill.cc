// Signals that a rank sends to itself, to its threads and to other ranks, by process id. forward() brings
// them to a rank of another process, and to the rank that has forked this process. The kernel delivers what
// goes to other processes, and to the process group, in which mpiexec and all ranks of this host are.
//
// A handler may run in each of these functions, and may end the thread by pthread_exit(), which unwinds its
// stack through the function. So none is noexcept, as its declaration in the headers is, and each has a C++
// name of its own (layering.unwinding).
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/process.h"
#include "base/types.h"
#include "image/symbols.h"
#include "process/ids.h"
#include "process/signals/state.h"

namespace clump::image::signals {
namespace {

fiber::Identity& own_rank() { return *fiber::identity(); }

/// Sends a signal to a rank of this process, or to a thread of it: 0, or an error number.
int send(const fiber::Identity& rank, Thread* to, const siginfo_t& info) {
  const int number = info.si_signo;
  if (number < 0 || number > kHighest || number == 32 || number == 33) return EINVAL;
  if (has_ended(rank)) return ESRCH;
  if (number == 0) return 0;
  if (number == SIGSTOP) {
    ::syscall(SYS_kill, base::process_id(), SIGSTOP);
    return 0;
  }
  if (number == SIGKILL) runtime().end_rank(rank, number, info, &rank == &own_rank(), nullptr);
  return direct(rank, to, info);
}

/// Sends a signal to the rank with this process id, in whatever process; negative if there is none.
int send(pid_t process, const siginfo_t& info) {
  if (process <= 0 || rank_count() == 0) return -1;
  if (!is_ours()) return forward(process, info) ? 0 : -1;
  const fiber::Identity* const rank = process_ids::rank_with(process);
  if (rank != nullptr) return send(*rank, nullptr, info);
  return forward(process, info) ? 0 : -1;
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

/// The rank's thread for which `match` is true; null if there is none.
template <typename Match>
Thread* find_thread(const fiber::Identity& rank, Match match) {
  (void)mine();  // so that the calling thread is in the list
  const Guard guard;
  for (Thread* thread = state_of(rank).threads; thread != nullptr; thread = thread->next)
    if (match(*thread)) return thread;
  return nullptr;
}

Thread* find_thread(pthread_t handle) {
  return find_thread(own_rank(),
                     [&](const Thread& thread) { return pthread_equal(thread.handle, handle) != 0; });
}

/// Called after a signal to the process group: handles what has come to this rank by it, before the caller
/// goes on.
int attended(int result) {
  const int error = errno;
  if (is_ours()) attend(mine());
  errno = error;
  return result;
}

}  // namespace

int queue(pid_t process, int number, const siginfo_t* info) {
  siginfo_t own = *info;
  own.si_signo = number;
  const int error = send(process, own);
  return error >= 0 ? with_errno(error)
                    : static_cast<int>(::syscall(SYS_rt_sigqueueinfo, process, number, info));
}

}  // namespace clump::image::signals

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using namespace clump::image::signals;

extern "C" {

CLUMP_HOST_API int call_raise(int number) asm("raise");
int call_raise(int number) {
  static constinit Hidden<int(int)> real{"raise"};
  return is_ours() ? with_errno(send(own_rank(), &mine(), make_info(number, SI_TKILL))) : real(number);
}

CLUMP_HOST_API int call_gsignal(int number) asm("gsignal");
int call_gsignal(int number) { return call_raise(number); }

CLUMP_HOST_API int call_kill(pid_t process, int number) asm("kill");
int call_kill(pid_t process, int number) {
  static constinit Hidden<int(pid_t, int)> real{"kill"};
  const int error = send(process, make_info(number, SI_USER));
  return error >= 0 ? with_errno(error) : attended(real(process, number));
}

CLUMP_HOST_API int call_killpg(pid_t group, int number) asm("killpg");
int call_killpg(pid_t group, int number) {
  static constinit Hidden<int(pid_t, int)> real{"killpg"};
  return attended(real(group, number));
}

CLUMP_HOST_API int call_sigqueue(pid_t process, int number, sigval value) asm("sigqueue");
int call_sigqueue(pid_t process, int number, sigval value) {
  const siginfo_t info = with_value(number, value);
  return queue(process, number, &info);
}

CLUMP_HOST_API int call_pthread_kill(pthread_t handle, int number) asm("pthread_kill");
int call_pthread_kill(pthread_t handle, int number) {
  static constinit Hidden<int(pthread_t, int)> real{"pthread_kill"};
  Thread* const thread = is_ours() ? find_thread(handle) : nullptr;
  return thread != nullptr ? send(own_rank(), thread, make_info(number, SI_TKILL)) : real(handle, number);
}

CLUMP_HOST_API int call_pthread_sigqueue(pthread_t handle, int number, sigval value) asm("pthread_sigqueue");
int call_pthread_sigqueue(pthread_t handle, int number, sigval value) {
  static constinit Hidden<int(pthread_t, int, const sigval)> real{"pthread_sigqueue"};
  Thread* const thread = is_ours() ? find_thread(handle) : nullptr;
  return thread != nullptr ? send(own_rank(), thread, with_value(number, value))
                           : real(handle, number, value);
}

CLUMP_HOST_API int call_tgkill(pid_t process, pid_t number_of_thread, int number) asm("tgkill");
int call_tgkill(pid_t process, pid_t number_of_thread, int number) {
  static constinit Hidden<int(pid_t, pid_t, int)> real{"tgkill"};
  const clump::fiber::Identity* const rank = is_ours() ? process_ids::rank_with(process) : nullptr;
  Thread* const thread =
      rank != nullptr
          ? find_thread(*rank, [&](const Thread& each) { return each.number == number_of_thread; })
          : nullptr;
  if (thread == nullptr) return real(process_ids::for_kernel(process), number_of_thread, number);
  return with_errno(send(*rank, thread, make_info(number, SI_TKILL)));
}

CLUMP_HOST_API int call_pidfd_send_signal(int descriptor, int number, siginfo_t* info,
                                          unsigned flags) asm("pidfd_send_signal");
int call_pidfd_send_signal(int descriptor, int number, siginfo_t* info, unsigned flags) {
  if (rank_count() > 0 && flags == 0) {
    siginfo_t own = info != nullptr ? *info : make_info(number, SI_USER);
    own.si_signo = number;
    const int error = send(process_ids::behind(descriptor), own);
    if (error >= 0) return with_errno(error);
  }
  return static_cast<int>(syscall(SYS_pidfd_send_signal, descriptor, number, info, flags));
}

/// The C library's own would set the default action for the whole process.
[[noreturn]] CLUMP_HOST_API void call_abort() asm("abort");
void call_abort() {
  static constinit Hidden<void()> real{"abort"};
  if (is_ours()) {
    Thread& self = mine();
    set_blocked(self, self.blocked.load(std::memory_order_relaxed) & ~bit_of(SIGABRT));
    const siginfo_t info = make_info(SIGABRT, SI_TKILL);
    (void)send(own_rank(), &self, info);
    runtime().end_rank(own_rank(), SIGABRT, info, true, nullptr);  // it was ignored, or its handler has
                                                                   // returned
  }
  real();
  __builtin_unreachable();
}

}  // extern "C"
