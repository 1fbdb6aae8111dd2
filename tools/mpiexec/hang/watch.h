// Who waits for whom: mpiexec asks the hosts of the job (station.h), when the user wants to know, when all
// seem to wait for each other, or when nothing has happened for too long.
// docs/decisions/018-who-waits-for-whom.md, 022-deadlocks-over-hosts.md
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "hang/orders.h"
#include "pmi/control.h"
#include "pmi/job.h"
#include "pmi/waits.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class Watch {
 public:
  /// `hang_after`: so many seconds without progress are a hang; 0: they are not. No host can be asked yet.
  Watch(const pmi::Job& job, int hang_after);

  /// From now on a host can be asked, or not any more.
  void admit(int host) { hosts_[static_cast<std::size_t>(host)].answers = true; }
  void lose(int host);
  void take(int host, Report report);
  /// The user asks.
  void ask();

  /// What all hosts are to be told now; false if there is nothing.
  bool next(Order& order);
  /// When poll() has to be called, if nothing comes before.
  std::optional<std::chrono::steady_clock::time_point> alarm() const;

  enum class Finding : std::uint8_t { kNothing, kAsked, kDeadlock, kHang };
  /// What is new. `text` says what all wait for.
  Finding poll(std::string& text);
  /// What was told by now. `is_final`: what has not come by now never will.
  std::string text(bool is_final) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Host {
    bool answers = false, over = false;
    bool rests = false;                        // as far as it has told
    bool checked = false, has_looked = false;  // it has answered the last order
    bool is_complete = false;                  // its account
    std::string account;
  };
  /// What all hosts have answered to one order.
  struct Moment {
    bool holds = true;
    std::uint64_t waiting = 0, wakes = 0, sent = 0, taken = 0, progress = 0;
    void add(const Report& report);
    bool operator==(const Moment&) const = default;
  };

  template <typename Is>
  bool all(Is is) const;
  void order(Order::Kind kind, std::uint32_t number) { orders_.push_back({kind, number}); }
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
  std::deque<Order> orders_;

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
pmi::Failure stuck(Watch::Finding found, int hang_after, const std::string& text);

}  // namespace clump::mpiexec
