// What the kernel knows of this process's threads: whether any of them can go on without another one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host/proc_text.h"
#include "host/shared_ranges.h"

namespace clump::host {

/// How long a thread of this process has run, or could have run and had no core. 0: it has ended.
std::chrono::nanoseconds time_of_thread(pid_t thread);
/// The same for all threads but the caller and the monitor of fibers; of threads that have ended, only how
/// long they had run.
std::chrono::nanoseconds time_of_all_threads();

/// Looks at all threads of the process, as /proc/self/task shows them. Owned by the observer, which is left
/// out, as is the monitor of fibers.
class Tasks {
 public:
  /// Whose wake-ups a sleeping thread may wait for, to count as one that cannot go on by itself.
  enum class Wakers : std::uint8_t {
    kThreads,   ///< threads of this process
    kAnything,  ///< other processes as well: it sleeps, for whatever
  };
  explicit Tasks(Wakers wakers) : wakers_(wakers) {}

  /// Whether no thread has run since the last look, and none can go on by itself: all sleep in futexes that
  /// have no time limit, and nothing wakes them from outside (wake_sources.h). False at the first look, and
  /// if that was less than `least` ago: then it does not look. Also where the kernel does not tell. Between
  /// two looks that have found the same lies a moment at which all slept.
  bool are_still(std::chrono::milliseconds least);
  /// Whether the last look has found that none could.
  bool were_asleep() const { return !last_.empty(); }

 private:
  struct Task {
    pid_t thread = 0;
    FutexWait wait;              ///< what it sleeps in
    std::uint64_t switches = 0;  ///< how often it has gone to sleep
    bool operator==(const Task&) const = default;
  };
  /// What one look asks about the whole process: each question once, when the first thread needs the answer.
  struct Answers {
    SharedRanges shared;
    std::optional<bool> handles_signals;
  };
  enum class Found : std::uint8_t { kAsleep, kAwake, kGone };
  bool look();
  Found look_at(pid_t thread, Answers& answers);
  bool is_woken_from_outside(const Task& task, Answers& answers);

  const Wakers wakers_;
  std::vector<Task> now_;                 ///< those that this look has found asleep so far
  std::unordered_map<pid_t, Task> seen_;  ///< those that an earlier look has found so
  std::vector<Task> last_;                ///< all of them; empty: somebody could go on
  std::chrono::steady_clock::time_point looked_;
  pid_t awake_ = 0;  ///< the thread that could go on, which will most likely be found so again
};

}  // namespace clump::host
