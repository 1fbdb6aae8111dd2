// Post, start, complete and wait (MPI-5.0 section 12.5.2). Ranks of one process tell each other by signals
// (epoch_signals.h), others by empty messages.
#include <algorithm>
#include <atomic>
#include <utility>

#include "core/awaited.h"
#include "fiber/completion.h"
#include "fiber/polling.h"
#include "p2p/p2p.h"
#include "rma/messages.h"
#include "rma/waits.h"
#include "rma/window.h"

namespace clump::rma {

using base::Status;
using Call = EpochSignals::Call;

namespace {

Tag tag_of(Call call) { return call == Call::kPost ? Tag::kPosted : Tag::kCompleted; }

/// A call of another rank that a rank of the window waits for.
class CallOfOther : public WaitForWindow {
 public:
  CallOfOther(const Window& window, Call call, int peer) : window_(window), call_(call), peer_(peer) {}
  AwaitedOfWindow awaited_of_window() const override {
    return {fmt::format("{} of {}", call_ == Call::kPost ? "MPI_Win_post" : "MPI_Win_complete",
                        window_.name_of(peer_)),
            window_.group->world_rank(peer_), false};
  }

 private:
  const Window& window_;
  const Call call_;
  const int peer_;
};

/// A signal, for reports: it lies on the stack while the rank waits.
class SignalOfOther final : public core::Request, public CallOfOther {
 public:
  using CallOfOther::CallOfOther;
};

/// A message.
class NoteOfOther final : public p2p::ReceiveOperation, public CallOfOther {
 public:
  NoteOfOther(const Window& window, Call call, int peer) : CallOfOther(window, call, peer) {
    begin(address(*window.comm, peer, tag_of(call)), no_data());
  }
};

}  // namespace

Status Window::find_partners(const core::Group& part, Partners& partners) const {
  if (partners.group.get() == &part) return {};  // it is kept alive, so it is the same one
  Partners found{base::Ref(&part), {}, {}};
  for (int i = 0; i < part.size(); ++i) {
    const int one = group->rank_of(part.world_rank(i));
    if (one == MPI_UNDEFINED)
      return base::fail(MPI_ERR_GROUP, "(group): its rank {}, which is rank {} of the job, is not in {}", i,
                        part.world_rank(i), description());
    (target(one).index_here >= 0 ? found.here : found.elsewhere).push_back(one);
  }
  partners = std::move(found);
  return {};
}

bool Window::has_called(Call call, int one) {
  return map_->signals->received(call, target(one).index_here, mine().index_here).done();
}

/// Waits for a call of a rank of this process, and makes the signal ready for its next one.
void Window::await(Call call, int one) {
  fiber::Completion& signal = map_->signals->received(call, target(one).index_here, mine().index_here);
  if (!signal.done()) {
    const SignalOfOther about(*this, call, one);
    const NoteWait noted(call == Call::kPost ? awaited_post_ : awaited_complete_, one);
    const core::Waiting told(about);
    signal.wait();
  }
  signal.reset();
}

/// Waits for the message that says the same of a rank of another process.
void Window::await(Call call, int one, p2p::ReceiveOperation& note) {
  if (note.completion.done()) return;
  const NoteWait noted(call == Call::kPost ? awaited_post_ : awaited_complete_, one);
  const core::Waiting told(note);
  note.wait();
}

Status Window::start(const core::Group& part, int assertions) {
  CLUMP_TRY(check_assertions(assertions, MPI_MODE_NOCHECK));
  CLUMP_TRY(check_no_access("start another one"));
  const bool is_new = started_.group.get() != &part;
  CLUMP_TRY(find_partners(part, started_));
  if (is_new) {
    is_started_.assign(static_cast<std::size_t>(ranks()), false);
    for (const auto* const some : {&started_.here, &started_.elsewhere})
      for (const int one : *some) is_started_[static_cast<std::size_t>(one)] = true;
  }
  const bool checked = (assertions & MPI_MODE_NOCHECK) == 0;
  if (checked) {
    for (const int one : started_.here) await(Call::kPost, one);
    for (const int one : started_.elsewhere) {
      NoteOfOther note(*this, Call::kPost, one);
      await(Call::kPost, one, note);
    }
  }
  // What a signal tells is ordered by it.
  if (!checked || !started_.elsewhere.empty()) order_memory();
  tell_sanitizer();
  counters_.epochs.add();
  access_.store(Access::kStarted, std::memory_order_release);
  // The epoch of a fence ends, if no operation was called in it.
  fenced_.store(false, std::memory_order_relaxed);
  return {};
}

Status Window::complete() {
  if (access_ != Access::kStarted)
    return base::fail(MPI_ERR_RMA_SYNC, "(win): rank {} has not called MPI_Win_start on {}", rank(),
                      description());
  Status flushed;
  for (const int one : started_.elsewhere) {
    const Status status = messages_ != nullptr ? messages_->flush(one) : Status();
    if (flushed.ok()) flushed = status;
  }
  if (!started_.elsewhere.empty()) order_memory();
  tell_sanitizer();
  for (const int one : started_.here)
    map_->signals->send(Call::kComplete, mine().index_here, target(one).index_here);
  for (const int one : started_.elsewhere) send_note(*comm, one, Tag::kCompleted);
  counters_.epochs.add();
  access_.store(Access::kNone, std::memory_order_release);
  return flushed;
}

Status Window::post(const core::Group& part, int assertions) {
  CLUMP_TRY(check_assertions(assertions, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT));
  if (posted_)
    return base::fail(MPI_ERR_RMA_SYNC,
                      "(win): rank {} has called MPI_Win_post on {} already: call MPI_Win_wait", rank(),
                      description());
  CLUMP_TRY(find_partners(part, exposed_));
  const bool checked = (assertions & MPI_MODE_NOCHECK) == 0;
  if (!checked || !exposed_.elsewhere.empty()) order_memory();
  tell_sanitizer();
  for (const int one : exposed_.elsewhere)
    completions_.push_back(std::make_unique<NoteOfOther>(*this, Call::kComplete, one));
  if (checked) {
    for (const int one : exposed_.here)
      map_->signals->send(Call::kPost, mine().index_here, target(one).index_here);
    for (const int one : exposed_.elsewhere) send_note(*comm, one, Tag::kPosted);
  }
  counters_.epochs.add();
  posted_ = true;
  return {};
}

Status Window::wait() {
  if (!posted_)
    return base::fail(MPI_ERR_RMA_SYNC, "(win): rank {} has not called MPI_Win_post on {}", rank(),
                      description());
  for (const int one : exposed_.here) await(Call::kComplete, one);
  for (std::size_t i = 0; i < completions_.size(); ++i)
    await(Call::kComplete, exposed_.elsewhere[i], *completions_[i]);
  completions_.clear();
  counters_.epochs.add();
  posted_ = false;
  if (!exposed_.elsewhere.empty()) order_memory();
  tell_sanitizer();
  return {};
}

Status Window::test(bool& is_done) {
  if (!posted_)
    return base::fail(MPI_ERR_RMA_SYNC, "(win): rank {} has not called MPI_Win_post on {}", rank(),
                      description());
  p2p::poll(owner);
  is_done = std::ranges::all_of(exposed_.here, [&](int one) { return has_called(Call::kComplete, one); }) &&
            std::ranges::all_of(completions_, [](const auto& note) { return note->completion.done(); });
  if (!is_done) fiber::yield_after_empty_poll();
  return is_done ? wait() : Status();
}

}  // namespace clump::rma
