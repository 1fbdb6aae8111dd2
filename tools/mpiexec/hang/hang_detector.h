// The hang detector: mpiexec finds out which ranks wait for which. It sends control messages to all hosts of
// the job (host_probe.h) when the user asks (SIGQUIT), when all hosts report that their ranks sleep, and at
// intervals with --hang-after. It decides whether there is a deadlock or a hang.
// docs/decisions/018-who-waits-for-whom.md, 022-deadlocks-over-hosts.md
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "hang/control_messages.h"
#include "pmi/control.h"
#include "pmi/job.h"
#include "pmi/waits.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class HangDetector {
 public:
  using Clock = std::chrono::steady_clock;

  /// `hang_after`: a job without progress for so many seconds hangs; 0: this is not looked at. No host can be
  /// asked before admit().
  HangDetector(const pmi::Job& job, int hang_after);

  /// The host can be asked from now on; after lose(), it cannot.
  void admit(int host) { hosts_[static_cast<std::size_t>(host)].answers = true; }
  void lose(int host);
  void take(int host, ControlReply reply);
  /// The user asks where the ranks are; poll() returns kAsked when the answer is complete.
  void ask();

  /// The next message for all hosts; false if there is none.
  bool next(ControlMessage& message);
  /// When poll() has to be called, if nothing comes before.
  std::optional<std::chrono::steady_clock::time_point> alarm() const;

  enum class Finding : std::uint8_t { kNothing, kAsked, kDeadlock, kHang };
  /// What has been found since the last call. `text` says what all ranks wait for.
  Finding poll(std::string& text);
  /// What all ranks wait for, as far as hosts have replied. `is_final`: no further reply can come.
  std::string text(bool is_final) const;

 private:
  struct Host {
    bool answers = false, over = false;
    bool rests = false;                        // as far as it has told
    bool checked = false, has_looked = false;  // it has answered the last message
    bool is_complete = false;                  // its account
    std::string account;
  };
  /// What all hosts have answered to one message.
  struct Moment {
    bool holds = true;
    std::uint64_t waiting = 0, wakes = 0, sent = 0, taken = 0, progress = 0;
    void add(const ControlReply& reply);
    bool operator==(const Moment&) const = default;
  };

  template <typename Is>
  bool all(Is is) const;
  void send_to_all(ControlMessage::Kind kind, std::uint32_t number) {
    messages_.push_back({kind, number, {}});
  }
  void ask(Finding why);
  Finding finish_question(std::string& text);
  pmi::Account account() const;
  void look_for_deadlock();
  void check();
  void conclude_check();
  void look_at_progress();
  void conclude_look();

  const pmi::Job& job_;
  std::vector<Host> hosts_;
  std::deque<ControlMessage> messages_;

  // A question: why it was asked.
  Finding asked_for_ = Finding::kNothing;
  bool user_waits_ = false;            // for one that is asked after this
  std::optional<pmi::Account> first_;  // the answer to the question before this one, which was the same
  std::uint32_t question_ = 0;
  Clock::time_point patience_;

  // A deadlock is one if two checks in a row have found the same, and so has one after the question.
  std::uint32_t check_ = 0;
  bool is_checking_ = false;
  Moment now_;
  std::optional<Moment> before_;  // all rested
  bool has_accounts_ = false;     // of this
  bool is_deadlock_ = false;
  std::chrono::milliseconds pause_;
  std::optional<Clock::time_point> next_check_;

  // For a hang: looks, one after the other, and how many of them have found nothing new.
  std::chrono::milliseconds between_looks_{0};  // 0: there are none
  Clock::time_point next_look_;
  std::uint32_t looks_ = 0;
  int still_ = 0;
  Moment look_;
  std::uint64_t progress_ = 0;
};

inline constexpr const char* kDeadlocked = "every rank waits for what cannot come any more\n";

/// What is said of a deadlock or a hang, in which all wait for `text`.
pmi::Failure stuck(HangDetector::Finding found, int hang_after, const std::string& text);

}  // namespace clump::mpiexec
