// Signals as something to wait for beside descriptors.
#pragma once

#include <signal.h>

#include <chrono>
#include <span>

namespace clump::mpiexec {

class SignalLine {
 public:
  /// How long to wait at most where there is no descriptor.
  static constexpr std::chrono::milliseconds kPause{10};

  /// Blocks these signals, in this thread and those that it makes from now on.
  void begin(std::span<const int> numbers);

  /// Readable when one has come. -1 where the system forbids signalfd: ask next() every kPause.
  int descriptor() const { return descriptor_; }

  /// One that has come; false if there is none. Never waits.
  bool next(siginfo_t& info);

 private:
  sigset_t all_{};
  int descriptor_ = -1;
};

}  // namespace clump::mpiexec
