// What a rank does with a signal: signal(), sigset(), sigvec() and the other interfaces of several decades.
// All of them lead to sigaction() and sigprocmask(). For those that may unblock a signal see signals/kill.cc.
#include <cerrno>
#include <csignal>

#include "base/types.h"
#include "image/symbols.h"
#include "process/signals/state.h"

namespace clump::image::signals {
namespace {

/// siginterrupt() of threads that belong to no rank.
constinit Set interrupting_of_process = 0;

Set& interrupting() {
  return is_ours() ? state_of(*fiber::identity()).interrupting : interrupting_of_process;
}

sighandler_t set(int number, sighandler_t handler, int flags) {
  struct sigaction wanted {};
  struct sigaction before {};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  return sigaction(number, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

sigset_t only(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  return one;
}

int change(int how, int number) {
  if (number < 1 || number > kHighest) {
    errno = EINVAL;
    return -1;
  }
  const sigset_t one = only(number);
  return sigprocmask(how, &one, nullptr);
}

/// The signal masks of BSD have 32 bits.
int change_old(int how, int mask) {
  const sigset_t set = to_sigset(static_cast<unsigned>(mask));
  sigset_t before{};
  if (sigprocmask(how, &set, &before) != 0) return -1;
  return static_cast<int>(to_set(before));
}

}  // namespace
}  // namespace clump::image::signals

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using namespace clump::image::signals;

extern "C" {

CLUMP_HOST_API int __sigaction(int number, const struct sigaction* wanted,
                               struct sigaction* before) noexcept {
  return sigaction(number, wanted, before);
}

CLUMP_HOST_API sighandler_t signal(int number, sighandler_t handler) noexcept {
  const bool restart = number < 1 || number > kSignals || (interrupting() & bit_of(number)) == 0;
  return set(number, handler, restart ? SA_RESTART : 0);
}

CLUMP_HOST_API sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  return set(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

CLUMP_HOST_API int siginterrupt(int number, int interrupts) noexcept {
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0) return -1;
  if (interrupts != 0) {
    interrupting() |= bit_of(number);
    action.sa_flags &= ~SA_RESTART;
  } else {
    interrupting() &= ~bit_of(number);
    action.sa_flags |= SA_RESTART;
  }
  return sigaction(number, &action, nullptr);
}

/// System V: SIG_HOLD blocks, any other handler unblocks.
CLUMP_HOST_API sighandler_t call_sigset(int number, sighandler_t handler) asm("sigset");
sighandler_t call_sigset(int number, sighandler_t handler) {
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) != 0) return SIG_ERR;
  sigset_t blocked;
  if (sigprocmask(SIG_BLOCK, nullptr, &blocked) != 0) return SIG_ERR;
  const bool was_held = sigismember(&blocked, number) == 1;
  if (handler != SIG_HOLD && set(number, handler, 0) == SIG_ERR) return SIG_ERR;
  if (change(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, number) != 0) return SIG_ERR;
  return was_held ? SIG_HOLD : before.sa_handler;
}

CLUMP_HOST_API int sighold(int number) noexcept { return change(SIG_BLOCK, number); }
CLUMP_HOST_API int call_sigrelse(int number) asm("sigrelse");
int call_sigrelse(int number) { return change(SIG_UNBLOCK, number); }
CLUMP_HOST_API int sigignore(int number) noexcept { return set(number, SIG_IGN, 0) == SIG_ERR ? -1 : 0; }

CLUMP_HOST_API int old_sigblock(int mask) noexcept asm("sigblock");
int old_sigblock(int mask) noexcept { return change_old(SIG_BLOCK, mask); }
CLUMP_HOST_API int old_sigsetmask(int mask) asm("sigsetmask");
int old_sigsetmask(int mask) { return change_old(SIG_SETMASK, mask); }
// siggetmask() is left to the C library: it asks the kernel, which has the rank's mask, and ld would warn at
// every link of a program if a library defined it.

/// The SIGRTMAX that programs see: the two signals above it are Clump's.
CLUMP_HOST_API int __libc_current_sigrtmax() noexcept {
  static constinit Hidden<int()> real{"__libc_current_sigrtmax"};
  return is_on() ? kHighest : real();
}

}  // extern "C"
