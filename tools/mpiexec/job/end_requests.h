// Signals by which a user, a batch system or timeout(1) asks for the end of the job: which of them are a new
// wish. The second wish ends the job at once, so one that comes twice by itself must not count twice.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>

namespace clump::mpiexec {

/// Owned by mpiexec's only thread.
class EndRequests {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Kind : std::uint8_t {
    kFirst,
    kSame,   ///< the first one once more: nothing is to be done
    kAgain,  ///< asked a second time
  };
  /// timeout(1) and batch systems send a signal to mpiexec and at once to its group, and a wrapper passes on
  /// what the terminal has sent to all: within this time the same number from a process is the same wish.
  static constexpr std::chrono::seconds kSameWithin{1};

  static bool ends_job(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }
  /// `is_typed`: a key of the terminal has sent it, and each of these is a wish of its own.
  Kind take(int signal, bool is_typed, Clock::time_point now) {
    // No key sends SIGHUP: a terminal that closes does, once by the shell and once by the kernel.
    const bool may_be_same = (!is_typed || signal == SIGHUP) && signal == first_ && now - at_ < kSameWithin;
    if (first_ != 0) return may_be_same ? Kind::kSame : Kind::kAgain;
    first_ = signal;
    at_ = now;
    return Kind::kFirst;
  }
  /// The first one; 0: none has come.
  int signal() const { return first_; }
  /// The ranks have handled it and go on: the next one is the first again.
  void forget() { first_ = 0; }

 private:
  int first_ = 0;
  Clock::time_point at_{};
};

}  // namespace clump::mpiexec
