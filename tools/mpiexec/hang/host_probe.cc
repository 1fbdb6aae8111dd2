#include "hang/host_probe.h"

#include <algorithm>
#include <utility>

namespace clump::mpiexec {

namespace {

/// How long the probe waits for processes that do not answer: they may not have come to MPI yet.
constexpr std::chrono::seconds kProbePatience{2};

/// What a process answers unasked, before it ends by itself.
constexpr std::uint32_t kUnasked = 0;

}  // namespace

void HostProbe::begin(const pmi::Job& job, const pmi::NodeMemory& memory,
                      std::function<pmi::Standing::State(int process)> state_of) {
  job_ = &job;
  memory_ = &memory;
  state_of_ = std::move(state_of);
  ended_.assign(static_cast<std::size_t>(job.this_node().processes), false);
}

std::vector<int> HostProbe::running() const {
  std::vector<int> all;
  for (std::size_t i = 0; i < ended_.size(); ++i)
    if (!ended_[i]) all.push_back(job_->this_node().first + static_cast<int>(i));
  return all;
}

void HostProbe::handle(const ControlMessage& message) {
  switch (message.kind) {
    case ControlMessage::Kind::kCheck:
      return check(message.number);
    case ControlMessage::Kind::kAccount:
      return ask(message.number);
    case ControlMessage::Kind::kProgress:
      return look_at_progress(message.number);
    case ControlMessage::Kind::kEnd:
      return end_all();
    case ControlMessage::Kind::kSignal:
    case ControlMessage::Kind::kStop:
    case ControlMessage::Kind::kAddress:
    case ControlMessage::Kind::kAbsent:
    case ControlMessage::Kind::kSpawned:
    case ControlMessage::Kind::kAllDone:
      return;  // not for it
  }
}

void HostProbe::note_end(int process) {
  ended_[static_cast<std::size_t>(process - job_->this_node().first)] = true;
  if (running().empty()) return replies_.push_back({.kind = ControlReply::Kind::kOver});
  if (check_) finish_check();
  tell_if_all_rest();
}

bool HostProbe::all_rest() const {
  std::uint64_t since = 0;
  return std::ranges::all_of(running(), [&](int process) { return memory_->rests(*job_, process, since); });
}

void HostProbe::tell_if_all_rest() {
  if (!running().empty() && all_rest()) replies_.push_back({.kind = ControlReply::Kind::kRests});
}

void HostProbe::check(std::uint32_t number) {
  check_ = number;
  rests_.clear();
  // A process that rests has come to MPI, and answers.
  if (!all_rest()) return finish_check();
  for (const int process : running()) {
    memory_->host(process).check.store(number, std::memory_order_release);
    memory_->call_observer(process);
  }
}

void HostProbe::take(const pmi::RestNote& note) {
  if (note.check == kUnasked) return tell_if_all_rest();
  if (check_ != note.check) return;
  rests_[note.process] = note;
  finish_check();
}

/// If it is known how it ends.
void HostProbe::finish_check() {
  ControlReply reply{.kind = ControlReply::Kind::kChecked, .number = *check_, .holds = all_rest()};
  for (const int process : running()) {
    const auto found = rests_.find(process);
    if (found == rests_.end()) {
      if (reply.holds) return;
      continue;
    }
    const pmi::RestNote& note = found->second;
    reply.holds = reply.holds && note.rests;
    reply.waiting += static_cast<std::uint64_t>(note.waits);
    reply.wakes += note.wakes;
    reply.sent += note.sent;
    reply.taken += note.taken;
  }
  check_.reset();
  replies_.push_back(std::move(reply));
}

/// A rank that has not called MPI cannot answer.
bool HostProbe::has_answered(int process) const {
  if (!memory_->host(process).observes.load(std::memory_order_acquire)) return true;
  const auto found = answers_.find(process);
  return found != answers_.end() && found->second.is_complete;
}

void HostProbe::ask(std::uint32_t question) {
  question_ = question;
  patience_ = Clock::now() + kProbePatience;
  answers_.clear();
  for (const int process : running()) {
    memory_->host(process).question.store(question, std::memory_order_release);
    memory_->call_observer(process);
  }
}

void HostProbe::take(const pmi::AccountNote& note) {
  if (note.question == kUnasked && question_ != kUnasked) {
    question_ = kUnasked;
    patience_ = Clock::now() + kProbePatience;
    answers_.clear();
  }
  if (question_ != note.question) return;
  Answer& answer = answers_[note.process];
  answer.bytes += note.bytes;
  answer.is_complete = note.is_last;
}

void HostProbe::finish_question() {
  using State = pmi::Standing::State;
  pmi::Account all;
  bool is_complete = true;
  for (const int process : running()) {
    const auto found = answers_.find(process);
    pmi::Account one;
    if (found != answers_.end() && found->second.is_complete && pmi::decode(found->second.bytes, one)) {
      all.add(std::move(one));
      continue;
    }
    is_complete = is_complete && has_answered(process);
    const State state = state_of_(process);
    // One that has not called MPI cannot answer.
    const bool has_called = memory_->host(process).observes.load(std::memory_order_acquire);
    tell_all_of(process, state == State::kMute && !has_called ? State::kBefore : state, all);
  }
  for (std::size_t i = 0; i < ended_.size(); ++i)
    if (ended_[i]) tell_all_of(job_->this_node().first + static_cast<int>(i), State::kEnded, all);
  replies_.push_back({.kind = ControlReply::Kind::kAccount,
                      .number = *std::exchange(question_, std::nullopt),
                      .holds = is_complete,
                      .bytes = pmi::encode(all)});
}

void HostProbe::tell_all_of(int process, pmi::Standing::State state, pmi::Account& account) const {
  for (const int rank : job_->ranks_of(job_->processes[static_cast<std::size_t>(process)]))
    account.standings.push_back({rank, state, {}});
}

std::optional<HostProbe::Clock::time_point> HostProbe::alarm() const {
  return question_ ? std::optional(patience_) : std::nullopt;
}

bool HostProbe::next(ControlReply& reply) {
  if (question_ && (Clock::now() >= patience_ ||
                    std::ranges::all_of(running(), [&](int process) { return has_answered(process); })))
    finish_question();
  if (replies_.empty()) return false;
  reply = std::move(replies_.front());
  replies_.pop_front();
  return true;
}

void HostProbe::end_all() const {
  for (const int process : running()) {
    memory_->host(process).ends.store(true, std::memory_order_release);
    memory_->call_observer(process);
  }
}

/// What the look before has found, and begins the next one.
void HostProbe::look_at_progress(std::uint32_t look) {
  ControlReply reply{.kind = ControlReply::Kind::kProgress, .number = look, .holds = true};
  for (const int process : running()) {
    pmi::HostState& state = memory_->host(process);
    reply.holds = reply.holds && state.looked.load(std::memory_order_acquire) == look - 1 && state.in_mpi;
    reply.progress += state.progress;
    state.looks.store(look, std::memory_order_release);
    memory_->call_observer(process);
  }
  replies_.push_back(std::move(reply));
}

}  // namespace clump::mpiexec
