// What files of /proc say of a sleeping thread. Not for other layers.
#pragma once

#include <cstdint>
#include <string_view>

namespace clump::host {

/// What a thread sleeps in.
struct FutexWait {
  std::uint64_t address = 0;  ///< 0: it does not sleep in a futex, or not without a limit of time
  bool is_private = false;
  /// It may be in sem_wait(), by the arguments of the call.
  bool may_be_semaphore = false;

  friend bool operator==(const FutexWait&, const FutexWait&) = default;
};

/// `call`: /proc/self/task/N/syscall, the number of the system call and its arguments.
FutexWait futex_wait_of(std::string_view call);

/// The address of the set of signals that a thread waits for in sigwaitinfo() without a limit of time; 0: it
/// does not. `call`: as above.
std::uint64_t signal_wait_of(std::string_view call);

/// The socket in which a thread waits for a notification of a message queue; -1: it does not. Such a thread
/// is the C library's, for mq_notify() with SIGEV_THREAD. `call`: as above.
int notification_wait_of(std::string_view call);

/// `queue`: what is read from the descriptor of a message queue. The process that is
/// notified of the next message; 0: none; -1: it does not tell.
int notified_process_of(std::string_view queue);

/// `stat`: /proc/N/stat. Whether that process has ended, and nobody has waited for it yet.
bool is_zombie(std::string_view stat);

/// Reads the lines of /proc/self/timers, which has some for each timer of timer_create().
class TimerLines {
 public:
  /// `process`: the number of this process.
  explicit TimerLines(int process) : process_(process) {}
  /// Adds the next line. True: it was the last one of a timer, which the functions below tell of.
  bool add(std::string_view line);
  int number() const { return number_; }
  /// Whether it sends a signal, and not after some processor time of this process, but by a clock, or after
  /// processor time of another process.
  bool goes_by_clock() const { return sends_ && by_clock_; }

 private:
  bool goes_while_all_sleep(int clock) const;

  int process_;
  int number_ = -1;
  bool sends_ = true, by_clock_ = true;
};

/// How often it has gone to sleep. `status`: /proc/self/task/N/status. kNoSwitches: it does not tell.
inline constexpr std::uint64_t kNoSwitches = ~std::uint64_t{0};
std::uint64_t switches_of(std::string_view status);

}  // namespace clump::host
