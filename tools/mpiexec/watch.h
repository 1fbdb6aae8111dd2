// Who waits for whom: mpiexec asks the host processes of its node, when the user wants to know, when all seem
// to wait for each other, or when nothing has happened for too long. docs/decisions/018-who-waits-for-whom.md
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pmi/job.h"
#include "pmi/node_memory.h"
#include "pmi/waits.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class Watch {
 public:
  /// `hang_after`: so many seconds without progress are a hang; 0: they are not.
  void begin(const pmi::Job& job, const pmi::NodeMemory& memory, int hang_after);

  /// A process thinks that it rests, or one has ended.
  void look_for_deadlock();
  void note_end(int process);
  /// The user asks.
  void ask();
  void take(const pmi::AccountNote& note);
  /// When there is something to do again, if nothing comes before.
  std::optional<std::chrono::steady_clock::time_point> next() const;

  enum class Finding { kNothing, kAsked, kDeadlock, kHang };
  /// What is new. `text` says what all wait for.
  Finding poll(std::string& text);
  /// What was told by now. `is_final`: what has not come by now never will.
  std::string text(bool is_final) const;
  /// The processes shall end: it is a deadlock, or a hang.
  void end_all() const;

 private:
  using Clock = std::chrono::steady_clock;
  void ask(Finding why);
  std::vector<int> running() const;
  bool all_rest(std::map<int, std::uint64_t>& since) const;
  bool is_answered() const;
  void look_at_progress();
  bool stands_still();

  const pmi::Job* job_ = nullptr;
  const pmi::NodeMemory* memory_ = nullptr;
  std::vector<bool> ended_;  // by process of this node

  // A question: why it was asked, and what has come.
  Finding asked_for_ = Finding::kNothing;
  std::uint32_t question_ = 0;
  std::uint32_t answered_ =
      0;  // the one that the answers are to: 0, which nobody asks, is told before an end
  Clock::time_point patience_;
  std::map<int, std::string> answers_;          // by process; encoded
  std::map<int, bool> complete_;                // by process
  std::map<int, std::uint64_t> resting_since_;  // when a deadlock was seen

  // For a hang: looks, one after the other, and how many of them have found nothing new.
  std::chrono::milliseconds between_looks_{0};  // 0: there are none
  Clock::time_point next_look_;
  std::uint32_t looks_ = 0;
  int still_ = 0;
  std::map<int, std::uint64_t> progress_;
};

}  // namespace clump::mpiexec
