// A lock for sections so short that waiting for them is spinning: some tens of instructions, no system call,
// no waiting for anything else inside.
#pragma once

#include <atomic>

namespace clump::base {

/// One atomic exchange to lock, a plain store to unlock. Should its holder have lost its core, the others
/// give theirs away until it is back. Not recursive; no thread of control may wait, or be switched from its
/// kernel thread, while it holds one.
///
/// What synchronises is inline in every caller, so that sanitizers see it: they do not look into this layer.
class ShortMutex {
 public:
  ShortMutex() = default;
  ShortMutex(const ShortMutex&) = delete;
  ShortMutex& operator=(const ShortMutex&) = delete;

  [[gnu::always_inline]] void lock() noexcept {
    // acquire: pairs with the release in unlock().
    if (!locked_.exchange(true, std::memory_order_acquire)) [[likely]]
      return;
    for (int tries = 0; !try_lock(); ++tries) wait_a_moment(tries);
  }
  [[gnu::always_inline]] bool try_lock() noexcept {
    // The load keeps those who only try from taking the cache line away from the holder. acquire: as above.
    return !locked_.load(std::memory_order_relaxed) && !locked_.exchange(true, std::memory_order_acquire);
  }
  /// The same for a lock that is nearly always free, and a caller whose other way is cold: it costs the holder
  /// its cache line.
  [[gnu::always_inline]] bool lock_if_free() noexcept {
    return !locked_.exchange(true, std::memory_order_acquire);  // acquire: as above
  }
  [[gnu::always_inline]] void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  [[gnu::cold]] static void wait_a_moment(int moments_before) noexcept;
  std::atomic<bool> locked_{false};
};

/// Holds the mutex while it lives, unless the caller is alone: the only thread that may come here. An atomic
/// operation is a large part of what some calls cost.
class LockUnlessAlone {
 public:
  LockUnlessAlone(ShortMutex& mutex, bool alone) : mutex_(alone ? nullptr : &mutex) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~LockUnlessAlone() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  LockUnlessAlone(const LockUnlessAlone&) = delete;
  LockUnlessAlone& operator=(const LockUnlessAlone&) = delete;

 private:
  ShortMutex* const mutex_;
};

}  // namespace clump::base
