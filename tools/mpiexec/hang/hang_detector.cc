#include "hang/hang_detector.h"

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

HangDetector::HangDetector(const pmi::Job& job, int hang_after)
    : job_(job),
      hosts_(job.nodes.size()),
      pause_(kFirstPause),
      between_looks_(std::chrono::milliseconds(std::chrono::seconds(hang_after)) / kLooks) {
  if (hang_after > 0) look_at_progress();
}

template <typename Is>
bool HangDetector::all(Is is) const {
  return std::ranges::all_of(hosts_,
                             [&](const Host& host) { return host.over || (host.answers && is(host)); });
}

void HangDetector::lose(int host) {
  Host& lost = hosts_[static_cast<std::size_t>(host)];
  lost.answers = lost.over;
  is_checking_ = false;
}

void HangDetector::Moment::add(const ControlReply& reply) {
  holds = holds && reply.holds;
  waiting += reply.waiting;
  wakes += reply.wakes;
  sent += reply.sent;
  taken += reply.taken;
  progress += reply.progress;
}

void HangDetector::take(int from, ControlReply reply) {
  Host& host = hosts_[static_cast<std::size_t>(from)];
  switch (reply.kind) {
    case ControlReply::Kind::kOver:
      host.over = true;
      if (is_checking_) return conclude_check();
      [[fallthrough]];
    case ControlReply::Kind::kRests:
      host.rests = true;
      return look_for_deadlock();
    case ControlReply::Kind::kChecked:
      if (!is_checking_ || reply.number != check_) return;
      host.checked = true;
      host.rests = reply.holds;
      now_.add(reply);
      return conclude_check();
    case ControlReply::Kind::kAccount:
      if (reply.number != question_ && reply.number != 0) return;
      host.account = std::move(reply.bytes);
      host.is_complete = reply.holds;
      return;
    case ControlReply::Kind::kProgress:
      if (reply.number != looks_) return;
      host.has_looked = true;
      look_.add(reply);
      return conclude_look();
    case ControlReply::Kind::kDeadlock:
      is_deadlock_ = true;
      return;
    default:
      return;  // not for it
  }
}

void HangDetector::look_for_deadlock() {
  if (is_checking_ || is_deadlock_ || asked_for_ == Finding::kDeadlock) return;
  if (all([](const Host& host) { return host.rests; })) check();
}

void HangDetector::check() {
  is_checking_ = true;
  now_ = {};
  for (Host& host : hosts_) host.checked = false;
  send_to_all(ControlMessage::Kind::kCheck, ++check_);
}

// All numbers only grow, so if their sums are what they were, each is. Then there was a moment between the
// two checks, which follow each other, at which every process rested; and if the network had given out by
// then all that it was given, no process was left to wake another one.
void HangDetector::conclude_check() {
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

void HangDetector::ask() {
  user_waits_ = true;
  if (asked_for_ == Finding::kNothing) ask(Finding::kAsked);
}

void HangDetector::ask(Finding why) {
  if (why == Finding::kAsked) user_waits_ = false;
  asked_for_ = why;
  has_accounts_ = false;
  patience_ = Clock::now() + kPatience;
  for (Host& host : hosts_) {
    host.account.clear();
    host.is_complete = false;
  }
  send_to_all(ControlMessage::Kind::kAccount, ++question_);
}

bool HangDetector::next(ControlMessage& message) {
  if (messages_.empty()) return false;
  message = messages_.front();
  messages_.pop_front();
  return true;
}

std::optional<HangDetector::Clock::time_point> HangDetector::alarm() const {
  std::optional<Clock::time_point> first = next_check_;
  const auto sooner = [&](Clock::time_point time) { first = first ? std::min(*first, time) : time; };
  if (asked_for_ != Finding::kNothing) sooner(is_answered(hosts_) ? Clock::now() : patience_);
  if (between_looks_.count() > 0) sooner(next_look_);
  return first;
}

HangDetector::Finding HangDetector::poll(std::string& text) {
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

HangDetector::Finding HangDetector::finish_question(std::string& text) {
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

pmi::Account HangDetector::account() const {
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

std::string HangDetector::text(bool is_final) const {
  pmi::Account all = account();
  const std::set<int> settled = first_ ? diag::settled_ranks(*first_, all) : std::set<int>();
  std::string text = diag::waits_text(diag::scene_of(std::move(all), job_.ranks()), is_final, settled);
  if (hosts_.size() > 1) text += fmt::format("  on {}\n", host_list(job_));
  return text;
}

void HangDetector::look_at_progress() {
  next_look_ = Clock::now() + between_looks_;
  look_ = {};
  for (Host& host : hosts_) host.has_looked = false;
  send_to_all(ControlMessage::Kind::kProgress, ++looks_);
}

/// Whether several looks, the last of them now, have found that nothing has moved while all were in MPI.
void HangDetector::conclude_look() {
  if (!all([](const Host& host) { return host.has_looked; })) return;
  still_ = look_.holds && look_.progress == std::exchange(progress_, look_.progress) ? still_ + 1 : 0;
  if (still_ < kLooks || asked_for_ != Finding::kNothing || has_accounts_) return;
  still_ = 0;
  ask(Finding::kHang);
}

pmi::Failure stuck(HangDetector::Finding found, int hang_after, const std::string& text) {
  if (found == HangDetector::Finding::kDeadlock)
    return {.reason = pmi::Reason::kDeadlock, .code = 1, .text = kDeadlocked + text};
  return {.reason = pmi::Reason::kHang,
          .code = 1,
          .text = fmt::format(
              "nothing has moved in MPI for {} s (--hang-after), and all ranks are in it or asleep\n{}",
              hang_after, text)};
}

}  // namespace clump::mpiexec
