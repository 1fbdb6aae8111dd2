// The lock of a rank's part of a window (MPI_Win_lock): shared or exclusive, first come, first served.
//
// It lies in memory that all ranks of the target's node can access, so an origin on the node takes a free
// lock by one atomic operation, whatever the target does. An origin that has to wait stands in a queue. The
// rank that releases the lock takes origins out of the queue and tells each of them, by a message, that it
// has the lock now. An origin on another host asks by a message, and the target's process does the same for
// it.
//
//   word    bit 31: held exclusively | bit 30: origins wait | bits 29..0: how many hold it shared
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/mutex.h"

namespace clump::rma {

enum class LockType : std::uint8_t { kShared, kExclusive };

/// An origin that stands in a queue. A rank stands in one queue at a time, so it needs one place on each
/// node; a second thread of it that waits takes its lock when it finds it free (Window::wait_for_grant).
struct LockWaiter {
  std::int32_t next;  ///< 1 + the rank of the next one; 0: it is the last
  LockType type;
};

/// All zero: free. Any thread of any process that has it in its memory.
class Lock {
 public:
  /// Takes the lock if it is free for this type and no origin waits. One atomic operation, mostly.
  [[gnu::always_inline]] bool try_take(LockType type, int origin) {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while (is_open(word, type))
      // acquire: pairs with the releases in give_back(): the caller sees what former holders have done.
      if (word_.compare_exchange_weak(word, with(word, type), std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return took(type, origin);
    return false;
  }

  /// Takes the lock, or appends `origin` to the queue: then give_back() of another rank will name it.
  /// `waiters` has a place for each rank of the window.
  bool take_or_queue(LockType type, int origin, LockWaiter* waiters);

  /// Whether origins wait in the queue. A hint.
  bool has_queue() const { return (word_.load(std::memory_order_relaxed) & kQueue) != 0; }

  /// Releases the lock, and is a fence of memory. Then calls granted(origin) for each waiting origin that has
  /// the lock now.
  template <typename Granted>
  void give_back(LockType type, LockWaiter* waiters, Granted granted) {
#if !defined(__x86_64__)  // where an atomic operation is one
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    if (was_undisputed(type)) [[likely]]
      return;
    // The chain is the caller's: these origins do not queue again before they know that they have the lock.
    for (int next = grant(type, waiters); next != 0;) {
      const int origin = next - 1;
      next = waiters[origin].next;
      granted(origin);
    }
  }

  /// The rank that holds it exclusively; negative: none does. For reports.
  int holder() const {
    const bool exclusive = (word_.load(std::memory_order_relaxed) & kExclusive) != 0;
    return exclusive ? holder_.load(std::memory_order_relaxed) - 1 : -1;
  }
  /// Where these lie, for debuggers (facts.h), which read the bits of `word` as above.
  static std::size_t place_of_word();
  static std::size_t place_of_holder();
  /// How many hold it shared. For reports.
  int sharers() const { return static_cast<int>(word_.load(std::memory_order_relaxed) & kSharers); }

 private:
  static constexpr std::uint32_t kExclusive = 1u << 31, kQueue = 1u << 30, kSharers = kQueue - 1;

  static bool is_open(std::uint32_t word, LockType type) {
    return type == LockType::kShared ? (word & (kExclusive | kQueue)) == 0 : word == 0;
  }
  static std::uint32_t with(std::uint32_t word, LockType type) {
    return type == LockType::kShared ? word + 1 : word | kExclusive;
  }
  bool took(LockType type, int origin) {
    if (type == LockType::kExclusive) holder_.store(origin + 1, std::memory_order_relaxed);
    return true;
  }
  /// Gives the caller's hold back. True: no origin is to be told.
  [[gnu::always_inline]] bool was_undisputed(LockType type) {
    if (type == LockType::kShared) {
      // release: pairs with the acquire of the next holder. acquire: the last sharer hands on what the others
      // have done.
      const std::uint32_t before = word_.fetch_sub(1, std::memory_order_acq_rel);
      return (before & kQueue) == 0 || (before & kSharers) != 1;
    }
    std::uint32_t mine = kExclusive;
    return word_.compare_exchange_strong(mine, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  /// Takes out of the queue whom the lock is free for, with the lock in their names. 1 + the first of them,
  /// linked by `next`; 0: none.
  int grant(LockType released, LockWaiter* waiters);

  std::atomic<std::uint32_t> word_{0};
  base::ShortMutex mutex_;  // guards the queue, and kQueue
  std::int32_t first_ = 0, last_ = 0;
  std::atomic<std::int32_t> holder_{0};
};

}  // namespace clump::rma
