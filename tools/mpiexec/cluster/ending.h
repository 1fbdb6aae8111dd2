// How a job on several hosts is ended from outside, by --timeout or by a signal: its ranks tell where they
// are, then get the signal from their proxies. What has not ended by then is ended by force, so that the job
// ends whatever launchers, proxies and their hosts do. After a failure, too, hosts have only some time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace clump::mpiexec {

class Ending {
 public:
  using Clock = std::chrono::steady_clock;

  /// What is to be done next.
  enum class Step : std::uint8_t {
    kNothing,
    kTell,       ///< the proxies shall end their ranks
    kTerminate,  ///< the lines to hosts whose ranks have not ended are closed
    kKill,       ///< the lines to all hosts are
  };
  struct Ranks {
    bool can_be_told = false;  ///< the proxies of all hosts are connected
    bool are_asked = false;    ///< where they are, which they answer soon
  };

  /// --timeout; 0: none.
  explicit Ending(int timeout_seconds);

  /// A signal has come that ends the job, or SIGALRM for --timeout, or SIGPIPE: what reads the output has
  /// gone. Ranks have time to end only after a signal. The second request kills at once.
  void begin(int why, Ranks ranks);
  /// The job has failed: hosts whose ranks do not end so soon are given up.
  void limit(std::chrono::milliseconds grace);
  bool has_begun() const { return why_ != 0; }
  /// A signal; 0: the job is not ended from outside.
  int why() const { return why_; }
  /// What the ranks were asked is known.
  void note_answer() {
    if (times_.tell) times_.tell = Clock::now();
  }

  /// Whether --timeout is over now. True once.
  bool is_timeout();
  /// Each step once.
  Step next();
  /// When is_timeout() or next() has to be called.
  std::optional<Clock::time_point> alarm() const;

 private:
  struct Times {
    std::optional<Clock::time_point> timeout, tell, terminate, kill;
  };
  static bool take(std::optional<Clock::time_point>& time);

  int why_ = 0;
  Times times_;
};

}  // namespace clump::mpiexec
