#include "watch.h"

#include <algorithm>
#include <utility>

#include "diag/waits.h"

namespace clump::mpiexec {

namespace {

/// So long is waited for those who do not answer: they may not have come to MPI yet.
constexpr std::chrono::seconds kPatience{2};
/// In how many looks, one after the other, nothing may be new before it is a hang.
constexpr int kLooks = 4;

}  // namespace

void Watch::begin(const pmi::Job& job, const pmi::NodeMemory& memory, int hang_after) {
  job_ = &job;
  memory_ = &memory;
  ended_.assign(static_cast<std::size_t>(job.this_node().processes), false);
  between_looks_ = std::chrono::milliseconds(std::chrono::seconds(hang_after)) / kLooks;
  if (hang_after > 0) look_at_progress();
}

std::vector<int> Watch::running() const {
  std::vector<int> all;
  for (std::size_t i = 0; i < ended_.size(); ++i)
    if (!ended_[i]) all.push_back(job_->this_node().first + static_cast<int>(i));
  return all;
}

// Each process is looked at twice: one that has rested both times, and has not woken meanwhile, has rested at
// the moment between. So there is a moment at which all did, and nobody was left to wake anybody.
void Watch::look_for_deadlock() {
  if (asked_for_ != Finding::kNothing || job_->nodes.size() > 1) return;
  std::map<int, std::uint64_t> first, second;
  if (!all_rest(first) || !all_rest(second) || first != second || first.empty()) return;
  resting_since_ = std::move(first);
  ask(Finding::kDeadlock);
}

bool Watch::all_rest(std::map<int, std::uint64_t>& since) const {
  return std::ranges::all_of(running(),
                             [&](int process) { return memory_->rests(*job_, process, since[process]); });
}

void Watch::note_end(int process) {
  ended_[static_cast<std::size_t>(process - job_->this_node().first)] = true;
  look_for_deadlock();
}

void Watch::ask() {
  if (asked_for_ == Finding::kNothing) ask(Finding::kAsked);
}

void Watch::ask(Finding why) {
  asked_for_ = why;
  answered_ = ++question_;
  patience_ = Clock::now() + kPatience;
  answers_.clear();
  complete_.clear();
  for (const int process : running()) {
    memory_->host(process).question.store(question_, std::memory_order_release);
    memory_->call_observer(process);
  }
}

void Watch::take(const pmi::AccountNote& note) {
  if (note.question != question_ && note.question != 0) return;
  if (std::exchange(answered_, note.question) != note.question) answers_.clear();
  answers_[note.process] += note.bytes;
  if (note.is_last) complete_[note.process] = true;
}

bool Watch::is_answered() const {
  return std::ranges::all_of(running(), [&](int process) { return complete_.contains(process); });
}

std::optional<Watch::Clock::time_point> Watch::next() const {
  if (asked_for_ != Finding::kNothing) return patience_;
  if (between_looks_.count() > 0) return next_look_;
  return {};
}

Watch::Finding Watch::poll(std::string& text) {
  if (asked_for_ == Finding::kNothing) {
    if (between_looks_.count() > 0 && Clock::now() >= next_look_) {
      if (stands_still()) ask(Finding::kHang);
      look_at_progress();
    }
    return Finding::kNothing;
  }
  if (!is_answered() && Clock::now() < patience_) return Finding::kNothing;
  const Finding found = std::exchange(asked_for_, Finding::kNothing);
  if (found == Finding::kDeadlock) {
    std::map<int, std::uint64_t> now;
    if (!is_answered() || !all_rest(now) || now != resting_since_)
      return look_for_deadlock(), Finding::kNothing;
  }
  text = this->text(found == Finding::kDeadlock);
  if (found == Finding::kAsked) look_for_deadlock();  // what was told meanwhile was left aside
  return found;
}

std::string Watch::text(bool is_final) const {
  pmi::Account all;
  for (const auto& [process, bytes] : answers_)
    if (pmi::Account one; pmi::decode(bytes, one)) all.add(std::move(one));
  const pmi::Node& node = job_->this_node();
  for (int process = 0; process < static_cast<int>(job_->processes.size()); ++process) {
    const bool is_here = process >= node.first && process < node.first + node.processes;
    if (is_here && !ended_[static_cast<std::size_t>(process - node.first)]) continue;
    const auto state = is_here ? pmi::Standing::State::kEnded : pmi::Standing::State::kElsewhere;
    for (const int rank : job_->ranks_of(job_->processes[static_cast<std::size_t>(process)]))
      all.standings.push_back({rank, state, {}});
  }
  return diag::waits_text(diag::scene_of(std::move(all), job_->ranks()), is_final);
}

void Watch::end_all() const {
  for (const int process : running()) {
    memory_->host(process).ends.store(true, std::memory_order_release);
    memory_->call_observer(process);
  }
}

void Watch::look_at_progress() {
  next_look_ = Clock::now() + between_looks_;
  ++looks_;
  for (const int process : running()) {
    memory_->host(process).looks.store(looks_, std::memory_order_release);
    memory_->call_observer(process);
  }
}

/// Whether several looks, the last of them before now, have found that nothing has moved while all were in
/// MPI.
bool Watch::stands_still() {
  std::map<int, std::uint64_t> now;
  bool all_in_mpi = true;
  for (const int process : running()) {
    const pmi::HostState& state = memory_->host(process);
    all_in_mpi = all_in_mpi && state.looked.load(std::memory_order_acquire) == looks_ && state.in_mpi.load();
    now[process] = state.progress.load();
  }
  still_ = all_in_mpi && now == progress_ ? still_ + 1 : 0;
  progress_ = std::move(now);
  return still_ >= kLooks && std::exchange(still_, 0) != 0;
}

}  // namespace clump::mpiexec
