// The locks of this process that another thread may hold when a rank calls fork(). A lock that is held stays
// locked in the child for ever, because its holder is not there, and what it guards may be half changed. So
// every lock of src/image, src/process and src/host is of a type of this file, or
// tests/layering/fork_locks.csv says why a child never waits for it. fork() waits until it has all of them,
// and the child gets them anew.
//
// fork() takes the locks in no order: it tries all, and if one is held, it gives back the others and tries
// again. So functions may take them in any order, and hold them as long as they like: fork() gives up after a
// second, and the child of that fork() gets the lock free all the same. A handler that calls fork() may have
// interrupted a function that has a lock: fork() does not wait for a lock of its own thread, and the child
// keeps it.
//
// The C library has such locks, too: of the time zone, of locales, of ld.so. They cannot be taken from here.
// A function of ranks that may hold one for long has a NoFork meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

#include "fiber/identity.h"
#include "image/kernel_mask.h"

namespace clump::image {

class Jump;

/// What fork() needs of a lock. Never destroyed, except those of a rank.
class ForkLock {
 public:
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;

 protected:
  enum class Act : std::uint8_t { kTry, kUnlock, kRenew };
  /// Does this with the lock; the result of kTry.
  using Function = bool (*)(ForkLock& lock, Act act);

  constexpr ForkLock(Function act, bool is_of_rank) : act_(act), is_of_rank_(is_of_rank) {}
  /// Called by each thread before it takes the lock: from the first time on, fork() knows the lock.
  void note_use() {
    // relaxed: a fork() that has the list does not let another lock into it
    if (!is_known_.load(std::memory_order_relaxed)) [[unlikely]]
      become_known();
  }
  void become_known() noexcept;
  void become_unknown() noexcept;
  void note_taking() { taken_by_caller() = this; }
  void note_taken() {
    holder_.store(caller(), std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    taken_by_caller() = nullptr;
    if (!is_of_rank_) ++held_by_caller();
  }
  void note_given_back() {
    if (!is_of_rank_) --held_by_caller();
    holder_.store(nullptr, std::memory_order_relaxed);
  }

 public:
  /// Whether the calling thread has the lock: a handler may have interrupted it, or it is the child's.
  bool is_held_by_caller() const { return holder_.load(std::memory_order_relaxed) == caller(); }
  /// Whether the calling thread has a lock that all ranks take: it must not end so.
  static bool does_caller_hold_one() { return held_by_caller() > 0; }

 private:
  static const void* caller() {
    static constinit thread_local char own = 0;
    return &own;
  }
  static int& held_by_caller() {
    static constinit thread_local int count = 0;
    return count;
  }
  /// The lock that the calling thread takes at this moment: a handler may have interrupted it just before it
  /// has it, or just after.
  static const ForkLock*& taken_by_caller() {
    static constinit thread_local const ForkLock* lock = nullptr;
    return lock;
  }

  friend class ForkLocks;
  const Function act_;
  const bool is_of_rank_;
  std::atomic<bool> is_known_{false};
  std::atomic<const void*> holder_{nullptr};  ///< relaxed: a thread looks only for itself
  bool is_held_ = false;                      ///< by fork()
  const fiber::Identity* rank_ = nullptr;     ///< whose it is; null: all ranks'
  ForkLock* next_ = nullptr;
  ForkLock** link_ = nullptr;
};

/// A lock of the process: std::mutex.
template <typename Mutex>
class ForkSafe : public ForkLock {
 public:
  constexpr ForkSafe() : ForkLock(&act, false) {}
  void lock() {
    note_use();
    note_taking();
    std::atomic_signal_fence(std::memory_order_seq_cst);
    mutex_.lock();
    note_taken();
  }
  bool try_lock() {
    note_use();
    if (!mutex_.try_lock()) return false;
    note_taken();
    return true;
  }
  void unlock() {
    note_given_back();
    mutex_.unlock();
  }

 protected:
  constexpr explicit ForkSafe(bool is_of_rank) : ForkLock(&act, is_of_rank) {}

 private:
  static bool act(ForkLock& lock, Act what) {
    Mutex& mutex = static_cast<ForkSafe&>(lock).mutex_;
    switch (what) {
      case Act::kTry:
        return mutex.try_lock();
      case Act::kUnlock:
        mutex.unlock();
        break;
      case Act::kRenew:
        new (&mutex) Mutex;
        break;
    }
    return true;
  }

  Mutex mutex_;
};
using ForkMutex = ForkSafe<std::mutex>;

/// A lock of one rank, which its own threads take: fork() in another rank does not wait for it.
template <typename Mutex>
class ForkSafeOfRank : public ForkSafe<Mutex> {
 public:
  constexpr ForkSafeOfRank() : ForkSafe<Mutex>(true) {}
  ~ForkSafeOfRank() { this->become_unknown(); }
};
using RankMutex = ForkSafeOfRank<std::mutex>;

/// A lock that its holder may take again, also in the child of a fork(). There std::recursive_mutex would
/// wait for its holder for ever, which it knows by the kernel's number of the thread.
template <typename Mutex>
class Recursive {
 public:
  // A handler that interrupts these leaves `again_` as it was.
  void lock() {
    if (mutex_.is_held_by_caller())
      ++again_;
    else
      mutex_.lock();
  }
  void unlock() {
    if (again_ > 0)
      --again_;
    else
      mutex_.unlock();
  }

 private:
  Mutex mutex_;
  int again_ = 0;  ///< guarded by `mutex_`
};
using RecursiveForkMutex = Recursive<ForkMutex>;
using RecursiveRankMutex = Recursive<RankMutex>;

/// Holds a lock that all ranks take, and blocks all signals meanwhile: a handler that ended the thread would
/// leave it locked for all.
template <typename Mutex>
class HeldForProcess {
 public:
  explicit HeldForProcess(Mutex& mutex) : before_(signals::block_all()), mutex_(mutex) { mutex_.lock(); }
  ~HeldForProcess() {
    mutex_.unlock();
    signals::set_kernel_mask(before_);
  }
  HeldForProcess(const HeldForProcess&) = delete;
  HeldForProcess& operator=(const HeldForProcess&) = delete;

 private:
  signals::Set before_;
  Mutex& mutex_;
};

/// While one lives, fork() in another rank waits, for 50 ms at most: some calls wait in the network. For
/// calls that take locks of the C library's. They may be nested, and call functions of the program.
class NoFork {
 public:
  NoFork() noexcept;
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
  /// The calling thread leaves functions by longjmp(): those that it leaves do not end theirs.
  static void leave_by(const Jump& jump) noexcept;
  /// The calling thread ends: a handler may have ended it in the middle of functions.
  static void leave_all() noexcept;
};

/// Around fork(), with all signals blocked: host/fork.cc.
class ForkLocks {
 public:
  static void hold() noexcept;
  static void let_go() noexcept;
  /// In the child; also in one of _Fork(), which has the list alone.
  static void renew() noexcept;
  /// Around _Fork(), with all signals blocked: no other thread changes the list while the kernel copies the
  /// memory. Waits for no lock of the list, and at most a second for a fork() that has it: then the result is
  /// false, and there is nothing to let go.
  static bool hold_list() noexcept;
  static void let_list_go() noexcept;

 private:
  static bool try_all(int tries) noexcept;
  static void let_go_of_list() noexcept;
  static bool concerns_caller(const ForkLock& lock) noexcept;
};

}  // namespace clump::image
