// When a rank may access others' memory: fences, locks, flushes (MPI-5.0 section 12.5); post and start are in
// pscw.cc.
//
// An operation on memory that can be reached is complete when its call returns, so what ends an epoch waits
// for replies only where there are messages, and then tells the others. Waiting for a lock is receiving a
// message.
#include <algorithm>
#include <atomic>
#include <mutex>

#include "coll/schedule/agree.h"
#include "core/awaited.h"
#include "fiber/own_worker.h"
#include "fiber/polling.h"
#include "p2p/p2p.h"
#include "rma/messages.h"
#include "rma/waits.h"
#include "rma/window.h"

namespace clump::rma {

using base::Status;

namespace {

/// Called where a program may be polling: it reads a window again and again until another rank has written
/// there, which may need this rank's core, or its threads to take messages in. Most calls do nothing.
void let_others_run(core::Rank& self) {
  constexpr unsigned kCallsPerPoll = 16;
  constinit static thread_local unsigned calls = 0;
  if (++calls % kCallsPerPoll != 0) [[likely]]
    return;
  p2p::poll(self);
  fiber::yield_after_empty_poll();
}

}  // namespace

Status Window::wrong_assertions(int assertions, int allowed) const {
  return base::fail(
      MPI_ERR_ASSERT,
      "(assert = {:#x}): {:#x} means nothing in this call; it is a sum of constants MPI_MODE_*, or 0",
      assertions, assertions & ~allowed);
}

Status Window::check_no_access(const char* what) const {
  const char* const open = access_ == Access::kStarted ? "MPI_Win_start; call MPI_Win_complete"
                           : access_ == Access::kAll   ? "MPI_Win_lock_all; call MPI_Win_unlock_all"
                           : access_ == Access::kLocks ? "MPI_Win_lock; call MPI_Win_unlock"
                           : fenced_ && fence_used_    ? "MPI_Win_fence; call MPI_Win_fence"
                                                       : nullptr;
  if (open == nullptr) return {};
  return base::fail(MPI_ERR_RMA_SYNC,
                    "(win): rank {} cannot {}: its access epoch on {} has begun by {} before", rank(), what,
                    description(), open);
}

Status Window::fence(int assertions) {
  CLUMP_TRY(check_assertions(assertions,
                             MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED));
  if (access_ != Access::kNone) CLUMP_TRY(check_no_access("call it"));
  if (posted_)
    return base::fail(
        MPI_ERR_RMA_SYNC,
        "(win): rank {} exposes {} to a group: call MPI_Win_wait before (its MPI_Win_post is open)", rank(),
        description());
  const Status flushed = messages_ != nullptr ? messages_->flush(-1) : Status();
  order_memory();
  tell_sanitizer();
  CLUMP_TRY(coll::synchronize(coll::Members(*comm, coll::Caller::kWinFence)));
  tell_sanitizer();
  order_memory();
  ++fences_;
  fenced_.store((assertions & MPI_MODE_NOSUCCEED) == 0, std::memory_order_relaxed);
  fence_used_ = false;
  return flushed;
}

// Locks.

/// The receive that tells that the lock is the caller's.
class Grant final : public p2p::ReceiveOperation, public WaitForWindow {
 public:
  Grant(Window& window, int target) : window_(window), target_(target) {
    begin(address(*window.comm, MPI_ANY_SOURCE, Tag::kGranted), no_data());
  }
  AwaitedOfWindow awaited_of_window() const override {
    const Control* const control = window_.target(target_).control;
    const int holder = control != nullptr ? control->lock.holder() : -1;
    return {fmt::format("the lock of {}", window_.name_of(target_)),
            holder < 0 ? -1 : window_.group->world_rank(holder), true};
  }

 private:
  Window& window_;
  const int target_;
};

/// Takes the lock if it is free, without a place in a queue.
bool Window::try_once(LockType type, int rank) {
  Control* const control = target(rank).control;
  return control != nullptr ? control->lock.try_take(type, this->rank()) : messages_->try_lock(type, rank);
}

void Window::wait_for_grant(LockType type, int rank) {
  // A rank has one place in queues (lock.h). While one thread has it, others of the rank try again and again:
  // what they wait for may be free, and what the first one waits for may depend on them. acquire, release:
  // the first thread's place is free.
  while (waits_for_lock_.exchange(true, std::memory_order_acquire)) {
    if (try_once(type, rank)) return;
    p2p::poll(owner);
    fiber::yield_after_empty_poll();
  }
  const Target& there = target(rank);
  const bool asks = there.control == nullptr;
  if (asks) messages_->lock(type, rank);
  if (asks || !there.control->lock.take_or_queue(type, this->rank(), waiters())) {
    const NoteWait noted(awaited_lock_, rank);
    Grant grant(*this, rank);
    const core::Waiting told(grant);
    grant.wait();
  }
  waits_for_lock_.store(false, std::memory_order_release);
}

/// Looks for a short time whether a lock becomes free: most are held for less time than it takes to stand in
/// the queue and to be told.
bool Window::take_soon(LockType type, int rank) {
  constexpr int kPolls = 200;  // a microsecond
  constexpr int kPollsPerLook = 8;
  const fiber::Fiber* const self = fiber::this_fiber();
  if (self == nullptr || owner.is_explored()) return false;
  Lock& lock = target(rank).control->lock;
  for (int poll = 0; poll < kPolls && !lock.has_queue(); ++poll) {
    if (poll % kPollsPerLook == 0 && !fiber::may_poll(*self)) return false;
    if (lock.try_take(type, this->rank())) return true;
  }
  return false;
}

void Window::take_lock(LockType type, int rank) {
  Control* const control = target(rank).control;
  if (control == nullptr || !control->lock.try_take(type, this->rank())) [[unlikely]] {
    counters_.lock_waits.add();
    if (control == nullptr || !take_soon(type, rank)) wait_for_grant(type, rank);
  }
  tell_sanitizer();
}

Status Window::give_lock_back(LockType type, int rank) {
  Control* const control = target(rank).control;
  tell_sanitizer();
  if (control == nullptr) return messages_->unlock(type, rank);
  control->lock.give_back(type, waiters(), [&](int next) { send_note(*comm, next, Tag::kGranted); });
  return {};
}

void Window::serve_lock(LockType type, int origin) {
  if (mine().control->lock.take_or_queue(type, origin, waiters())) send_note(*comm, origin, Tag::kGranted);
}

void Window::serve_unlock(LockType type) {
  mine().control->lock.give_back(type, waiters(), [&](int next) { send_note(*comm, next, Tag::kGranted); });
}

// Any threads of the rank. acquire, release: a thread finds what another one has made.
void Window::make_held() {
  if (held_.load(std::memory_order_acquire) != nullptr) return;
  auto made = std::make_unique<std::atomic<Held>[]>(static_cast<std::size_t>(ranks()));
  std::atomic<Held>* none = nullptr;
  if (held_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) made.release();
}

// So a thousand ranks cost nothing whose memory is not accessed. Of the threads of the rank one takes the
// lock of a target, and others that need the same one wait for it.
void Window::touch(int rank) {
  std::atomic<Held>& state = held_at(rank);
  for (Held before = Held::kNo;
       !state.compare_exchange_strong(before, Held::kBeingTaken, std::memory_order_acquire);
       before = Held::kNo) {
    if (before != Held::kBeingTaken) return;
    p2p::poll(owner);
    fiber::yield_after_empty_poll();
  }
  take_lock(LockType::kShared, rank);
  bool is_in_epoch = false;
  {
    const EpochChange guarded(*this);
    is_in_epoch = access_ == Access::kAll;
    if (is_in_epoch) touched_.push_back(rank);
  }
  state.store(Held::kShared, std::memory_order_release);
  // MPI_Win_shared_query in this thread, MPI_Win_unlock_all meanwhile in another one.
  if (!is_in_epoch) static_cast<void>(release(rank));
}

// In rising order, so ranks that lock what these name in the same order wait in no circle with each other.
// The locks of other targets come with the first operation, whatever their rank. All of these are shared
// locks: ranks that call MPI_Win_lock_all at the same time do not wait for each other, but for exclusive
// locks that others hold or have asked for before.
void Window::touch_addressed() {
  if (flavor == MPI_WIN_FLAVOR_SHARED) {  // from one address a program can calculate those of all ranks
    for (int rank = 0; rank < ranks(); ++rank)
      if (target(rank).size > 0) touch(rank);
    return;
  }
  for (std::size_t i = 0;; ++i) {
    int rank = 0;
    {
      const std::lock_guard lock(addressed_mutex_);
      if (i >= addressed_.size()) return;
      rank = addressed_[i];
    }
    touch(rank);
  }
}

void Window::add_addressed(int rank) {
  if (flavor == MPI_WIN_FLAVOR_SHARED) return;
  {
    const std::lock_guard lock(addressed_mutex_);
    const auto place = std::ranges::lower_bound(addressed_, rank);
    if (place != addressed_.end() && *place == rank) return;
    addressed_.insert(place, rank);
  }
  if (access_ == Access::kAll && !all_unchecked_) touch(rank);
}

Status Window::lock(LockType type, int rank, int assertions) {
  CLUMP_TRY(check_assertions(assertions, MPI_MODE_NOCHECK));
  CLUMP_TRY(check_rank("rank", rank));
  if (rank == MPI_PROC_NULL) return {};
  // Once: another thread of the rank may lock another target meanwhile.
  const Access before = access_;
  if (before != Access::kLocks && (before != Access::kNone || (fenced_ && fence_used_)))
    CLUMP_TRY(check_no_access("lock a rank"));
  make_held();
  if (held(rank) != Held::kNo)
    return base::fail(MPI_ERR_RMA_SYNC,
                      "(rank = {}): rank {} has locked it already: call MPI_Win_unlock before", rank,
                      this->rank());
  const bool checked = (assertions & MPI_MODE_NOCHECK) == 0;
  if (checked) take_lock(type, rank);
  const Held now = !checked ? Held::kUnchecked : type == LockType::kShared ? Held::kShared : Held::kExclusive;
  held_at(rank).store(now, std::memory_order_release);
  const EpochChange guarded(*this);
  if (locks_++ > 0) return {};
  access_.store(Access::kLocks, std::memory_order_release);
  fenced_.store(false, std::memory_order_relaxed);
  return {};
}

/// Completes the operations on a rank and gives its lock back.
Status Window::release(int rank) {
  const Status flushed = messages_ != nullptr ? messages_->flush(rank) : Status();
  const Held before = held(rank);
  held_at(rank).store(Held::kNo, std::memory_order_release);
  if (before == Held::kUnchecked || target(rank).control == nullptr) order_operations();
  if (before == Held::kUnchecked) return flushed;
  CLUMP_TRY(give_lock_back(before == Held::kShared ? LockType::kShared : LockType::kExclusive, rank));
  return flushed;
}

Status Window::not_locked(int rank) const {
  return base::fail(MPI_ERR_RMA_SYNC, "(rank = {}): rank {} has not locked it on {} (MPI_Win_lock)", rank,
                    this->rank(), description());
}

Status Window::unlock(int rank) {
  CLUMP_TRY(check_rank("rank", rank));
  if (rank == MPI_PROC_NULL) return {};
  if (access_ != Access::kLocks || !is_held(held(rank))) return not_locked(rank);
  {
    const EpochChange guarded(*this);
    if (--locks_ == 0) access_.store(Access::kNone, std::memory_order_release);
  }
  const Status released = release(rank);
  let_others_run(owner);
  return released;
}

Status Window::lock_all(int assertions) {
  CLUMP_TRY(check_assertions(assertions, MPI_MODE_NOCHECK));
  CLUMP_TRY(check_no_access("lock all ranks"));
  make_held();
  all_unchecked_ = (assertions & MPI_MODE_NOCHECK) != 0;
  access_.store(Access::kAll, std::memory_order_release);
  fenced_.store(false, std::memory_order_relaxed);
  // Locks protect loads and stores, too, of which the library does not know when they happen.
  if (!all_unchecked_) touch_addressed();
  return {};
}

Status Window::unlock_all() {
  if (access_ != Access::kAll)
    return base::fail(MPI_ERR_RMA_SYNC, "(win): rank {} has not called MPI_Win_lock_all on {}", rank(),
                      description());
  std::vector<int> touched;
  {
    const EpochChange guarded(*this);
    access_.store(Access::kNone, std::memory_order_release);
    touched.swap(touched_);
  }
  Status outcome = messages_ != nullptr ? messages_->flush(-1) : Status();
  for (const int one : touched) {
    const Status released = release(one);
    if (outcome.ok()) outcome = released;
  }
  order_operations();
  return outcome;
}

Status Window::flush(int rank) {
  CLUMP_TRY(check_rank("rank", rank));
  const bool locked =
      access_ == Access::kAll || rank == MPI_PROC_NULL || (access_ == Access::kLocks && is_held(held(rank)));
  if (!locked) return not_locked(rank);
  order_operations();
  let_others_run(owner);
  if (rank == MPI_PROC_NULL) return {};
  return messages_ != nullptr ? messages_->flush(rank) : Status();
}

Status Window::flush_all() {
  if (access_ != Access::kAll && access_ != Access::kLocks)
    return base::fail(MPI_ERR_RMA_SYNC,
                      "(win): rank {} has locked no rank of {} (MPI_Win_lock, MPI_Win_lock_all)", rank(),
                      description());
  order_operations();
  let_others_run(owner);
  return messages_ != nullptr ? messages_->flush(-1) : Status();
}

Status Window::sync() {
  order_memory();
  tell_sanitizer();
  // MPI_Win_sync in a loop reads what another rank stores.
  if (messages_ != nullptr)
    p2p::poll(owner);
  else
    fiber::look_begins();
  fiber::yield_after_empty_poll();
  return {};
}

}  // namespace clump::rma
