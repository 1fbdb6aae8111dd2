#include "process/syscall_waits.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "image/symbols.h"
#include "process/refusal.h"
#include "process/signals/state.h"

namespace clump::image {
namespace {

template <typename T>
T* pointer(long argument) {
  return reinterpret_cast<T*>(argument);
}

long invalid() {
  errno = EINVAL;
  return -1;
}

/// A set of signals as the kernel has it, which is shorter than the C library's.
class KernelSet {
 public:
  KernelSet(const std::uint64_t* bits, long bytes)
      : is_given_(bits != nullptr), is_valid_(bits == nullptr || bytes == sizeof *bits) {
    if (is_given_ && is_valid_) set_ = signals::to_sigset(*bits);
  }
  bool is_valid() const { return is_valid_; }
  /// Null if there is none.
  const sigset_t* get() const { return is_given_ ? &set_ : nullptr; }

 private:
  bool is_given_, is_valid_;
  sigset_t set_{};
};

/// pselect6(2) has the set and its size behind one pointer.
struct SetAndSize {
  const std::uint64_t* bits;
  std::size_t bytes;
};

long make_timer_of_process(const long (&all)[6]) {
  static constinit Hidden<long(long, ...)> real{"syscall"};
  const auto* const event = pointer<const sigevent>(all[1]);
  if (event == nullptr || event->sigev_notify != SIGEV_NONE)
    refuse("syscall(SYS_timer_create)", "has the kernel signal the process or a kernel thread");
  return (*real)(SYS_timer_create, all[0], all[1], all[2]);
}

long pending(std::uint64_t* bits, long bytes) {
  if (bytes != sizeof *bits) return invalid();
  sigset_t set;
  if (sigpending(&set) != 0) return -1;
  *bits = signals::to_set(set);
  return 0;
}

}  // namespace

bool is_about_waits_or_limits(long number) {
  switch (number) {
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_getrlimit:
    case SYS_setrlimit:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_prlimit64:
    case SYS_rt_sigpending:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_timer_create:
      return true;
    default:
      return false;
  }
}

long call_for_waits_or_limits(long number, const long (&all)[6]) {
  const auto [a, b, c, d, e, f] = all;
  switch (number) {
#ifdef SYS_poll
    case SYS_poll:
      return poll(pointer<pollfd>(a), static_cast<nfds_t>(b), static_cast<int>(c));
    case SYS_select:
      return select(static_cast<int>(a), pointer<fd_set>(b), pointer<fd_set>(c), pointer<fd_set>(d),
                    pointer<timeval>(e));
    case SYS_getrlimit:
      return getrlimit(static_cast<__rlimit_resource>(a), pointer<rlimit>(b));
    case SYS_setrlimit:
      return setrlimit(static_cast<__rlimit_resource>(a), pointer<const rlimit>(b));
#endif
    case SYS_ppoll: {
      const KernelSet mask(pointer<const std::uint64_t>(d), e);
      return mask.is_valid()
                 ? ppoll(pointer<pollfd>(a), static_cast<nfds_t>(b), pointer<const timespec>(c), mask.get())
                 : invalid();
    }
    case SYS_pselect6: {
      const auto* const given = pointer<const SetAndSize>(f);
      const KernelSet mask(given != nullptr ? given->bits : nullptr,
                           given != nullptr ? static_cast<long>(given->bytes) : 0);
      return mask.is_valid() ? pselect(static_cast<int>(a), pointer<fd_set>(b), pointer<fd_set>(c),
                                       pointer<fd_set>(d), pointer<const timespec>(e), mask.get())
                             : invalid();
    }
    case SYS_prlimit64:
      return prlimit(static_cast<pid_t>(a), static_cast<__rlimit_resource>(b), pointer<const rlimit>(c),
                     pointer<rlimit>(d));
    case SYS_rt_sigpending:
      return pending(pointer<std::uint64_t>(a), b);
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait: {
      const KernelSet set(pointer<const std::uint64_t>(a), number == SYS_rt_sigsuspend ? b : d);
      if (!set.is_valid() || set.get() == nullptr) return invalid();
      if (number == SYS_rt_sigsuspend) return sigsuspend(set.get());
      return sigtimedwait(set.get(), pointer<siginfo_t>(b), pointer<const timespec>(c));
    }
    default:
      return make_timer_of_process(all);
  }
}

}  // namespace clump::image
