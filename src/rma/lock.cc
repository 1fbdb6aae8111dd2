#include "rma/lock.h"

#include <mutex>

namespace clump::rma {

std::size_t Lock::place_of_word() { return offsetof(Lock, word_); }
std::size_t Lock::place_of_holder() { return offsetof(Lock, holder_); }

bool Lock::take_or_queue(LockType type, int origin, LockWaiter* waiters) {
  const std::lock_guard lock(mutex_);
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  for (;;) {
    const bool open = is_open(word, type);
    const std::uint32_t next = open ? with(word, type) : word | kQueue;
    // acquire: as in try_take(). kQueue is set while a rank holds the lock, so the rank that releases it last
    // sees the queue.
    if (!word_.compare_exchange_weak(word, next, std::memory_order_acquire, std::memory_order_relaxed))
      continue;
    if (open) return took(type, origin);
    break;
  }
  waiters[origin] = {0, type};
  (last_ == 0 ? first_ : waiters[last_ - 1].next) = origin + 1;
  last_ = origin + 1;
  return false;
}

int Lock::grant(LockType released, LockWaiter* waiters) {
  const std::lock_guard lock(mutex_);
  // While kQueue is set no origin takes the lock by itself, but sharers give it back. acq_rel: the next
  // holders see what the caller has done, and what other sharers have done before.
  std::uint32_t word = released == LockType::kExclusive
                           ? word_.fetch_and(~kExclusive, std::memory_order_acq_rel) & ~kExclusive
                           : word_.load(std::memory_order_acquire);
  int granted = 0;
  std::int32_t* end = &granted;
  while (first_ != 0) {
    LockWaiter& waiter = waiters[first_ - 1];
    const bool exclusive = waiter.type == LockType::kExclusive;
    if ((word & kExclusive) != 0 || (exclusive && (word & kSharers) != 0)) break;
    if (!word_.compare_exchange_strong(word, with(word, waiter.type), std::memory_order_acq_rel)) continue;
    word = with(word, waiter.type);
    static_cast<void>(took(waiter.type, first_ - 1));
    *end = first_;
    end = &waiter.next;
    first_ = waiter.next;
  }
  *end = 0;
  if (first_ == 0) {
    last_ = 0;
    word_.fetch_and(~kQueue, std::memory_order_acq_rel);
  }
  return granted;
}

}  // namespace clump::rma
