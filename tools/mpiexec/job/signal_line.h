// Signals as something to wait for beside descriptors.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <ctime>
#include <span>

namespace clump::mpiexec {

/// What mpiexec hears of its user, of a batch system or of timeout(1).
inline constexpr int kOfUser[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

class SignalLine {
 public:
  /// How long to wait at most where there is no descriptor.
  static constexpr std::chrono::milliseconds kPause{10};

  /// Blocks these signals, in this thread and those that it makes from now on.
  void begin(std::span<const int> numbers) {
    ::sigemptyset(&all_);
    for (const int number : numbers) ::sigaddset(&all_, number);
    ::sigprocmask(SIG_BLOCK, &all_, nullptr);
    descriptor_ = ::signalfd(-1, &all_, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  /// Readable when one has come. -1 where the system forbids signalfd: ask next() every kPause.
  int descriptor() const { return descriptor_; }

  /// One that has come; false if there is none. Never waits.
  bool next(siginfo_t& info) const {
    constexpr timespec kNow{};
    return ::sigtimedwait(&all_, &info, &kNow) > 0;
  }

 private:
  sigset_t all_{};
  int descriptor_ = -1;
};

}  // namespace clump::mpiexec
