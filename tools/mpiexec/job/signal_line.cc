#include "job/signal_line.h"

#include <sys/signalfd.h>

#include <ctime>

namespace clump::mpiexec {

void SignalLine::begin(std::span<const int> numbers) {
  ::sigemptyset(&all_);
  for (const int number : numbers) ::sigaddset(&all_, number);
  ::sigprocmask(SIG_BLOCK, &all_, nullptr);
  descriptor_ = ::signalfd(-1, &all_, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool SignalLine::next(siginfo_t& info) {
  constexpr timespec kNow{};
  return ::sigtimedwait(&all_, &info, &kNow) > 0;
}

}  // namespace clump::mpiexec
