// Waiting for signals. A fiber that waits sleeps until the service (signals/service.cc) wakes it; a kernel
// thread sleeps in the kernel. In both cases the thread itself looks for signals that have come, and handlers
// run there, so that they may leave by siglongjmp().
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "base/types.h"
#include "fiber/fiber.h"
#include "image/symbols.h"
#include "process/files/standard.h"
#include "process/signals/state.h"
#include "process/signals/waits.h"
#include "process/threads/left_behind.h"

namespace clump::image::signals {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Set kAttention = bit_of(kRestart) | bit_of(kInterrupt);

/// The longest time that a fiber sleeps in one piece.
constexpr std::chrono::hours kLong{24 * 365};

/// While one lives, signals do not interrupt the calling thread: it looks for them itself.
class Looks {
 public:
  explicit Looks(Thread& self) : self_(self) {
    self_.looks.store(true, std::memory_order_relaxed);
    if (self_.fiber == nullptr)
      ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAttention, &before_, sizeof before_);
  }
  ~Looks() noexcept(false) { end(); }
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;

  void end() {
    if (!looks_) return;
    looks_ = false;
    self_.looks.store(false, std::memory_order_relaxed);
    if (self_.fiber == nullptr) ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  /// Sleeps until a signal may have come; a cancellation point.
  void sleep(std::optional<Clock::time_point> until) {
    if (self_.fiber != nullptr) {
      pthread_testcancel();
      return fiber::sleep_until(until ? *until : fiber::now() + kLong);
    }
    timespec left{};
    if (until) {
      const auto time =
          std::max<std::chrono::nanoseconds>(*until - Clock::now(), std::chrono::nanoseconds(0));
      left = {static_cast<time_t>(time / std::chrono::seconds(1)),
              static_cast<long>((time % std::chrono::seconds(1)).count())};
    }
    sigset_t open = to_sigset(before_);
    static constinit Hidden<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> real{"ppoll"};
    (void)real(nullptr, 0, until ? &left : nullptr, &open);
  }

 private:
  Thread& self_;
  bool looks_ = true;
  Set before_ = 0;
};

bool is_over(std::optional<Clock::time_point> until) { return until && fiber::now() >= *until; }

/// Waits for one of `wanted`. Returns it, or 0 when the time is up or (with `handlers_end_it`) a handler has
/// run.
int wait_for(Set wanted, siginfo_t& info, std::optional<Clock::time_point> until, bool handlers_end_it) {
  Thread& self = mine();
  claim(wanted);
  start_service();
  struct Awaits {
    Thread& self;
    ~Awaits() { self.awaited.store(0, std::memory_order_relaxed); }
  } awaits{self};
  for (;;) {
    Looks looks(self);
    self.awaited.store(wanted, std::memory_order_relaxed);
    int number;
    {
      const Guard guard;
      number = take(self, wanted, info);
    }
    if (number != 0) return number;
    const bool others = (pending_of(self) & ~self.blocked.load(std::memory_order_relaxed)) != 0;
    if (!others && is_over(until)) {
      errno = EAGAIN;
      return 0;
    }
    if (!others) {
      looks.sleep(until);
      continue;
    }
    const std::uint64_t handled = self.handled;
    looks.end();
    self.awaited.store(0, std::memory_order_relaxed);
    attend(self);
    if (self.handled != handled && handlers_end_it) {
      errno = EINTR;
      return 0;
    }
  }
}

int suspend(const sigset_t* mask) {
  Thread& self = mine();
  start_service();
  const Set before = self.blocked.load(std::memory_order_relaxed);
  // A handler may run as soon as the mask allows it, before the thread sleeps.
  const std::uint64_t handled = self.handled;
  if (mask != nullptr) {
    const Set during = to_set(*mask) & ~kNeverBlocked;
    if (const Set more = during & ~before; more != 0) claim(more);
    set_blocked(self, during);
  }
  wait_for_handler(self, std::nullopt, handled);
  if (mask != nullptr) {
    set_blocked(self, before);
    attend(self);
  }
  errno = EINTR;
  return -1;
}

int await(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  std::optional<Clock::time_point> until;
  if (timeout != nullptr) {
    if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1'000'000'000) {
      errno = EINVAL;
      return -1;
    }
    until = fiber::now() + std::chrono::seconds(std::min<time_t>(timeout->tv_sec, 1 << 30)) +
            std::chrono::nanoseconds(timeout->tv_nsec);
  }
  siginfo_t found{};
  const int number = wait_for(to_set(*set) & ~kNeverBlocked, found, until, true);
  if (number == 0) return -1;
  if (found.si_code == SI_TKILL) found.si_code = SI_USER;  // as the C library has it
  if (info != nullptr) *info = found;
  return number;
}

}  // namespace

MaskedCall::MaskedCall(const sigset_t* mask) : mask_(mask) {
  if (mask == nullptr || !is_ours()) return;
  Thread& self = mine();
  before_ = self.blocked.load(std::memory_order_relaxed);
  const Set during = to_set(*mask) & ~kNeverBlocked;
  if (const Set more = during & ~before_; more != 0) claim(more);
  Set kernels = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAttention, &kernels, sizeof kernels);
  const std::uint64_t handled = self.handled;
  self.blocked.store(during, std::memory_order_relaxed);
  self_ = &self;
  open_ = to_sigset(during & ~kFaults);
  mask_ = &open_;
  if ((pending_of(self) & ~during) == 0) return;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kernels, nullptr, sizeof kernels);
  attend(self);
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kAttention, nullptr, sizeof kAttention);
  was_interrupted_ = self.handled != handled;  // by this thread, or where the service has interrupted it
}

MaskedCall::~MaskedCall() noexcept(false) {
  if (self_ == nullptr) return;
  const int error = errno;
  set_blocked(*self_, before_);
  attend(*self_);
  errno = error;
}

bool wait_for_handler(Thread& self, std::optional<Clock::time_point> until, std::uint64_t handled) {
  for (;;) {
    Looks looks(self);
    if (self.handled != handled) return true;
    const bool any = (pending_of(self) & ~self.blocked.load(std::memory_order_relaxed)) != 0;
    if (!any && is_over(until)) return false;
    if (!any) looks.sleep(until);
    looks.end();
    attend(self);
  }
}

}  // namespace clump::image::signals

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using namespace clump::image::signals;
using left_behind::unless_left;
using standard::kernel_number;

extern "C" {

CLUMP_HOST_API int pause() {
  static constinit Hidden<int()> real{"pause"};
  return is_ours() ? suspend(nullptr) : real();
}

CLUMP_HOST_API int sigsuspend(const sigset_t* mask) {
  static constinit Hidden<int(const sigset_t*)> real{"sigsuspend"};
  return is_ours() && mask != nullptr ? suspend(mask) : real(mask);
}

/// System V's sigpause(): the mask without one signal.
CLUMP_HOST_API int __xpg_sigpause(int number) {
  static constinit Hidden<int(int)> real{"__xpg_sigpause"};
  if (!is_ours()) return real(number);
  sigset_t mask;
  if (sigprocmask(SIG_BLOCK, nullptr, &mask) != 0 || sigdelset(&mask, number) != 0) return -1;
  return suspend(&mask);
}

/// BSD's sigpause() with a mask, or System V's.
CLUMP_HOST_API int __sigpause(int number_or_mask, int is_number) {
  static constinit Hidden<int(int, int)> real{"__sigpause"};
  if (!is_ours()) return real(number_or_mask, is_number);
  if (is_number != 0) return __xpg_sigpause(number_or_mask);
  const sigset_t mask = to_sigset(static_cast<unsigned>(number_or_mask));
  return suspend(&mask);
}

CLUMP_HOST_API int old_sigpause(int mask) asm("sigpause");
int old_sigpause(int mask) { return __sigpause(mask, 0); }

CLUMP_HOST_API int sigwait(const sigset_t* set, int* number) {
  static constinit Hidden<int(const sigset_t*, int*)> real{"sigwait"};
  if (!is_ours() || set == nullptr || number == nullptr) return real(set, number);
  const int error = errno;
  siginfo_t info{};
  *number = wait_for(to_set(*set) & ~kNeverBlocked, info, std::nullopt, false);
  errno = error;
  return 0;
}

CLUMP_HOST_API int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  static constinit Hidden<int(const sigset_t*, siginfo_t*, const timespec*)> real{"sigtimedwait"};
  return is_ours() && set != nullptr ? await(set, info, timeout) : real(set, info, timeout);
}

CLUMP_HOST_API int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  static constinit Hidden<int(const sigset_t*, siginfo_t*)> real{"sigwaitinfo"};
  return is_ours() && set != nullptr ? await(set, info, nullptr) : real(set, info);
}

/// The signals that are pending for the rank or the thread, and those that the kernel holds back because all
/// threads block them.
CLUMP_HOST_API int sigpending(sigset_t* set) noexcept {
  static constinit Hidden<int(sigset_t*)> real{"sigpending"};
  if (!is_ours() || set == nullptr) return real(set);
  Thread& self = mine();
  Set kernels = 0;
  ::syscall(SYS_rt_sigpending, &kernels, sizeof kernels);
  const Set all = pending_of(self) | (kernels & ~kNeverBlocked);
  *set = to_sigset(all & self.blocked.load(std::memory_order_relaxed));
  return 0;
}

CLUMP_HOST_API int epoll_wait(int set, epoll_event* events, int most, int timeout) {
  static constinit Hidden<int(int, epoll_event*, int, int)> real{"epoll_wait"};
  return unless_left(real(kernel_number(set), events, most, timeout));
}
CLUMP_HOST_API int epoll_pwait(int set, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  static constinit Hidden<int(int, epoll_event*, int, int, const sigset_t*)> real{"epoll_pwait"};
  return with_mask(mask, [&](const sigset_t* open) {
    return unless_left(real(kernel_number(set), events, most, timeout, open));
  });
}
CLUMP_HOST_API int epoll_pwait2(int set, epoll_event* events, int most, const timespec* timeout,
                                const sigset_t* mask) {
  static constinit Hidden<int(int, epoll_event*, int, const timespec*, const sigset_t*)> real{"epoll_pwait2"};
  return with_mask(mask, [&](const sigset_t* open) {
    return unless_left(real(kernel_number(set), events, most, timeout, open));
  });
}

}  // extern "C"
