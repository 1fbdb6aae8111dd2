#include "image/fork_locks.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/mutex.h"
#include "image/jump.h"
#include "image/rank_image.h"

extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT: the sanitizer's name; null without it

namespace clump::image {
namespace {

/// The locks that have been used. `list_lock` guards the list, and is never held over a wait: but for the
/// time from the moment when a fork() has all locks, until it has let go of them.
constinit base::ShortMutex list_lock;
constinit ForkLock* list = nullptr;

/// Taken for a moment by each that has the list. ThreadSanitizer does not look into this layer: it sees in
/// functions of the C library alone that a lock is made before fork() tries it, and that fork() has let go
/// of it before its owner frees it.
constinit std::mutex seen;
void show_order() noexcept {
  if (__tsan_init != nullptr) const std::scoped_lock order(seen);
}

/// One fork() at a time. A NoFork that begins meanwhile waits for it.
constinit std::mutex forking;
constinit std::atomic<bool> is_forking{false};
/// How many threads have a NoFork.
constinit std::atomic<int> inside{0};
/// The first one that the calling thread has, in which the others are; null: none. And the frame of its
/// constructor, which tells whether a jump leaves it.
constinit thread_local const NoFork* outermost = nullptr;
constinit thread_local const void* frame_of_outermost = nullptr;
int own_inside() { return outermost != nullptr ? 1 : 0; }

constexpr timespec kPause{0, 50'000};
constexpr int kMostTries = 10'000;  // about a second
constexpr int kMostInside = 500;    // tries that wait for a NoFork: about 50 ms
// Tries that wait for a lock which the caller itself takes at this moment, and may have by now.
constexpr int kMostOfCaller = 10;

/// While one lives, no handler runs that might need the list.
class ListHeld {
 public:
  ListHeld() : held_(list_lock) { show_order(); }
  ~ListHeld() { show_order(); }
  ListHeld(const ListHeld&) = delete;
  ListHeld& operator=(const ListHeld&) = delete;

 private:
  HeldForProcess<base::ShortMutex> held_;
};

}  // namespace

void ForkLock::become_known() noexcept {
  const ListHeld held;
  if (is_known_.load(std::memory_order_relaxed)) return;
  rank_ = is_of_rank_ ? fiber::identity() : nullptr;
  next_ = list;
  link_ = &list;
  if (next_ != nullptr) next_->link_ = &next_;
  list = this;
  is_known_.store(true, std::memory_order_relaxed);
}

void ForkLock::become_unknown() noexcept {
  if (!is_known_.load(std::memory_order_relaxed)) return;
  const ListHeld held;
  if (next_ != nullptr) next_->link_ = link_;
  *link_ = next_;
}

NoFork::NoFork() noexcept {
  if (outermost != nullptr) return;
  frame_of_outermost = __builtin_frame_address(0);
  outermost = this;
  // sequentially consistent: either fork() sees this thread inside, or the thread sees the fork()
  for (;;) {
    inside.fetch_add(1);
    if (!is_forking.load()) return;
    inside.fetch_sub(1);
    const std::scoped_lock until_it_has_ended(forking);
  }
}

NoFork::~NoFork() {
  if (outermost != this) return;
  outermost = nullptr;
  inside.fetch_sub(1);
}

void NoFork::leave_by(const Jump& jump) noexcept {
  if (outermost != nullptr && jump.leaves(frame_of_outermost)) leave_all();
}

void NoFork::leave_all() noexcept {
  if (std::exchange(outermost, nullptr) != nullptr) inside.fetch_sub(1);
}

/// A lock in the rank's Image may have been taken first by a thread of another rank.
bool ForkLocks::concerns_caller(const ForkLock& lock) noexcept {
  if (!lock.is_of_rank_ || lock.rank_ == nullptr || lock.rank_ == fiber::identity()) return true;
  return current_image().holds(&lock);
}

bool ForkLocks::try_all(int tries) noexcept {
  list_lock.lock();
  show_order();
  bool has_all = tries >= kMostInside || inside.load() == own_inside();
  for (ForkLock* lock = list; lock != nullptr && has_all; lock = lock->next_) {
    if (!concerns_caller(*lock) || lock->is_held_by_caller()) continue;
    if (tries >= kMostOfCaller && ForkLock::taken_by_caller() == lock) continue;
    lock->is_held_ = lock->act_(*lock, ForkLock::Act::kTry);
    has_all = lock->is_held_;
  }
  return has_all;
}

void ForkLocks::hold() noexcept {
  // Who waits here is in no function of the C library's, though it may have a NoFork: a constructor that
  // forks.
  inside.fetch_sub(own_inside());
  forking.lock();
  inside.fetch_add(own_inside());
  is_forking.store(true);
  for (int tries = 0; !try_all(tries) && tries < kMostTries; ++tries) {
    let_go_of_list();
    ::syscall(SYS_nanosleep, &kPause, nullptr);
  }
}

void ForkLocks::let_go_of_list() noexcept {
  for (ForkLock* lock = list; lock != nullptr; lock = lock->next_)
    if (std::exchange(lock->is_held_, false)) lock->act_(*lock, ForkLock::Act::kUnlock);
  show_order();
  list_lock.unlock();
}

void ForkLocks::let_go() noexcept {
  let_go_of_list();
  is_forking.store(false);
  forking.unlock();
}

bool ForkLocks::hold_list() noexcept {
  for (int tries = 0; !list_lock.try_lock(); ++tries) {
    if (tries == kMostTries) return false;
    ::syscall(SYS_nanosleep, &kPause, nullptr);
  }
  show_order();
  return true;
}

void ForkLocks::let_list_go() noexcept {
  show_order();
  list_lock.unlock();
}

void ForkLocks::renew() noexcept {
  for (ForkLock* lock = list; lock != nullptr; lock = lock->next_) {
    lock->is_held_ = false;
    if (concerns_caller(*lock) && !lock->is_held_by_caller()) lock->act_(*lock, ForkLock::Act::kRenew);
  }
  new (&seen) std::mutex;
  list_lock.unlock();
  inside.store(own_inside());
  is_forking.store(false);
  new (&forking) std::mutex;
}

}  // namespace clump::image
