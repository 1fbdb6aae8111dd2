#include "hang/watch.h"

#include <algorithm>
#include <utility>

#include "diag/waits.h"
#include "plan/rank_list.h"

namespace clump::mpiexec {

namespace {

/// So long is waited for hosts that do not answer; they wait less for their processes.
constexpr std::chrono::seconds kPatience{3};
/// Between checks while messages are in the network.
constexpr std::chrono::milliseconds kFirstPause{10}, kLongestPause{1000};
/// In how many looks, one after the other, nothing may be new before it is a hang.
constexpr int kLooks = 4;

/// All hosts that can have told what was asked last.
bool is_answered(const auto& hosts) {
  return std::ranges::all_of(hosts,
                             [](const auto& host) { return host.is_complete || host.over || !host.answers; });
}

}  // namespace

Watch::Watch(const pmi::Job& job, int hang_after)
    : job_(job),
      hosts_(job.nodes.size()),
      pause_(kFirstPause),
      between_looks_(std::chrono::milliseconds(std::chrono::seconds(hang_after)) / kLooks) {
  if (hang_after > 0) look_at_progress();
}

template <typename Is>
bool Watch::all(Is is) const {
  return std::ranges::all_of(hosts_,
                             [&](const Host& host) { return host.over || (host.answers && is(host)); });
}

void Watch::lose(int host) {
  Host& lost = hosts_[static_cast<std::size_t>(host)];
  lost.answers = lost.over;
  is_checking_ = false;
}

void Watch::Moment::add(const Report& report) {
  holds = holds && report.holds;
  waiting += report.waiting;
  wakes += report.wakes;
  sent += report.sent;
  taken += report.taken;
  progress += report.progress;
}

void Watch::take(int from, Report report) {
  Host& host = hosts_[static_cast<std::size_t>(from)];
  switch (report.kind) {
    case Report::Kind::kOver:
      host.over = true;
      if (is_checking_) return conclude_check();
      [[fallthrough]];
    case Report::Kind::kRests:
      host.rests = true;
      return look_for_deadlock();
    case Report::Kind::kChecked:
      if (!is_checking_ || report.number != check_) return;
      host.checked = true;
      host.rests = report.holds;
      now_.add(report);
      return conclude_check();
    case Report::Kind::kAccount:
      if (report.number != question_ && report.number != 0) return;
      host.account = std::move(report.bytes);
      host.is_complete = report.holds;
      return;
    case Report::Kind::kProgress:
      if (report.number != looks_) return;
      host.has_looked = true;
      look_.add(report);
      return conclude_look();
  }
}

void Watch::look_for_deadlock() {
  if (is_checking_ || is_deadlock_ || asked_for_ == Finding::kDeadlock) return;
  if (all([](const Host& host) { return host.rests; })) check();
}

void Watch::check() {
  is_checking_ = true;
  now_ = {};
  for (Host& host : hosts_) host.checked = false;
  order(Order::Kind::kCheck, ++check_);
}

// All numbers only grow, so if their sums are what they were, each is. Then there was a moment between the
// two checks, which follow each other, at which every process rested; and if the network had given out by
// then all that it was given, nobody was left to wake anybody.
void Watch::conclude_check() {
  if (!all([](const Host& host) { return host.checked; })) return;
  is_checking_ = false;
  const std::optional<Moment> before = std::exchange(before_, std::nullopt);
  if (!now_.holds || now_.waiting == 0) {
    has_accounts_ = false;
    pause_ = kFirstPause;
    return now_.holds ? void() : look_for_deadlock();
  }
  before_ = now_;
  const bool is_in_network = now_.sent != now_.taken;
  if (before == now_ && !is_in_network) {
    if (has_accounts_) is_deadlock_ = true;
    if (!has_accounts_ && asked_for_ == Finding::kNothing) return ask(Finding::kDeadlock);
    if (!has_accounts_) next_check_ = Clock::now() + kFirstPause;
    return;
  }
  has_accounts_ = false;
  if (!is_in_network) return check();
  next_check_ = Clock::now() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

void Watch::ask() {
  user_waits_ = true;
  if (asked_for_ == Finding::kNothing) ask(Finding::kAsked);
}

void Watch::ask(Finding why) {
  if (why == Finding::kAsked) user_waits_ = false;
  asked_for_ = why;
  has_accounts_ = false;
  patience_ = Clock::now() + kPatience;
  for (Host& host : hosts_) {
    host.account.clear();
    host.is_complete = false;
  }
  order(Order::Kind::kAccount, ++question_);
}

bool Watch::next(Order& order) {
  if (orders_.empty()) return false;
  order = orders_.front();
  orders_.pop_front();
  return true;
}

std::optional<Watch::Clock::time_point> Watch::alarm() const {
  std::optional<Clock::time_point> first = next_check_;
  const auto sooner = [&](Clock::time_point time) { first = first ? std::min(*first, time) : time; };
  if (asked_for_ != Finding::kNothing) sooner(is_answered(hosts_) ? Clock::now() : patience_);
  if (between_looks_.count() > 0) sooner(next_look_);
  return first;
}

Watch::Finding Watch::poll(std::string& text) {
  const auto now = Clock::now();
  if (between_looks_.count() > 0 && now >= next_look_) look_at_progress();
  if (next_check_ && now >= *next_check_) {
    next_check_.reset();
    look_for_deadlock();
  }
  if (std::exchange(is_deadlock_, false)) {
    text = this->text(true);
    return Finding::kDeadlock;
  }
  if (asked_for_ == Finding::kNothing) {
    if (user_waits_) ask(Finding::kAsked);
    return Finding::kNothing;
  }
  return is_answered(hosts_) || now >= patience_ ? finish_question(text) : Finding::kNothing;
}

Watch::Finding Watch::finish_question(std::string& text) {
  const Finding found = std::exchange(asked_for_, Finding::kNothing);
  const bool is_answered = all([](const Host& host) { return host.is_complete; });
  if (found == Finding::kDeadlock) {
    has_accounts_ = is_answered;
    look_for_deadlock();
  } else if (is_answered && !first_) {
    first_ = account();
    ask(found);
  } else {
    text = this->text(false);
    first_.reset();
    return found;
  }
  return Finding::kNothing;
}

pmi::Account Watch::account() const {
  pmi::Account all;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const Host& host = hosts_[i];
    pmi::Account one;
    if (pmi::decode(host.account, one)) {
      all.add(std::move(one));
      continue;
    }
    const auto state = host.over ? pmi::Standing::State::kEnded : pmi::Standing::State::kSilent;
    for (const int rank : job_.ranks_of(job_.nodes[i])) all.standings.push_back({rank, state, {}});
  }
  return all;
}

std::string Watch::text(bool is_final) const {
  pmi::Account all = account();
  const std::set<int> settled = first_ ? diag::settled_ranks(*first_, all) : std::set<int>();
  std::string text = diag::waits_text(diag::scene_of(std::move(all), job_.ranks()), is_final, settled);
  if (hosts_.size() > 1) text += fmt::format("  on {}\n", host_list(job_));
  return text;
}

void Watch::look_at_progress() {
  next_look_ = Clock::now() + between_looks_;
  look_ = {};
  for (Host& host : hosts_) host.has_looked = false;
  order(Order::Kind::kProgress, ++looks_);
}

/// Whether several looks, the last of them now, have found that nothing has moved while all were in MPI.
void Watch::conclude_look() {
  if (!all([](const Host& host) { return host.has_looked; })) return;
  still_ = look_.holds && look_.progress == std::exchange(progress_, look_.progress) ? still_ + 1 : 0;
  if (still_ < kLooks || asked_for_ != Finding::kNothing || has_accounts_) return;
  still_ = 0;
  ask(Finding::kHang);
}

pmi::Failure stuck(Watch::Finding found, int hang_after, const std::string& text) {
  if (found == Watch::Finding::kDeadlock)
    return {.reason = pmi::Reason::kDeadlock, .code = 1, .text = kDeadlocked + text};
  return {.reason = pmi::Reason::kHang,
          .code = 1,
          .text = fmt::format(
              "nothing has moved in MPI for {} s (--hang-after), and all ranks are in it or asleep\n{}",
              hang_after, text)};
}

}  // namespace clump::mpiexec
