#include "fiber/progress_sleeper.h"

#include <mutex>
#include <utility>

#include "fiber/completion.h"
#include "fiber/worker.h"
#include "fiber/world_stop.h"

namespace clump::fiber::progress_sleeper {

namespace {

constinit base::Bell* bell = nullptr;
std::mutex lock;
Waiter* watcher = nullptr;
Waiter* sleepers = nullptr;  // linked by next_sleeper
constinit std::atomic<bool> asleep_now{false};

}  // namespace

bool is_asleep() noexcept { return asleep_now.load(std::memory_order_seq_cst); }

bool is_kept() noexcept { return bell != nullptr; }

void keep(base::Bell& given) noexcept { bell = &given; }

bool begin(Waiter& waiter) {
  const std::lock_guard guard(lock);
  if (watcher == nullptr) {
    watcher = &waiter;
    return true;
  }
  waiter.next_sleeper = std::exchange(sleepers, &waiter);
  return false;
}

void sleep_while(const std::atomic<std::uint32_t>& state, std::uint32_t asleep) {
  const auto is_asleep = [&] { return state.load(std::memory_order_seq_cst) == asleep; };
  while (is_asleep()) {
    if (take_in(0)) {
      // It was for another thread, or another thread is taking it in: that one may need this core.
      if (is_asleep()) give_core_away();
      continue;
    }
    // seq_cst: pairs with wake_up(). The fence pairs with that of Bell::ring(): what take_in() and
    // may_sleep() read below is as new as the bell that a sender has not found.
    bell->progress_sleeper.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (is_asleep() && !take_in(0) && may_sleep()) {
      asleep_now.store(true, std::memory_order_seq_cst);
      base::Bell::sleep(bell->progress_sleeper, &kUntilLong);
      if (bell->progress_sleeper.load(std::memory_order_seq_cst) == 1 && is_asleep()) {
        sleeps_for_long();
        base::Bell::sleep(bell->progress_sleeper);
      }
      awake_threads::note_wake();
      asleep_now.store(false, std::memory_order_seq_cst);
    }
    bell->progress_sleeper.store(0, std::memory_order_relaxed);
  }
}

void wake_up() noexcept {
  if (bell->progress_sleeper.load(std::memory_order_seq_cst) != 0) base::Bell::wake(bell->progress_sleeper);
}

void end(Waiter& waiter, bool watched) {
  Waiter* next = nullptr;
  {
    const std::lock_guard guard(lock);
    if (watched) watcher = nullptr;
    Waiter** link = &sleepers;
    while (*link != nullptr && *link != &waiter) link = &(*link)->next_sleeper;
    const bool was_listed = *link != nullptr;
    if (was_listed) *link = waiter.next_sleeper;
    // The thread that was to watch next may have got what it waited for, too, and may leave: so it wakes
    // another one.
    if (!was_listed && watcher == nullptr && (next = sleepers) != nullptr) sleepers = next->next_sleeper;
  }
  if (next != nullptr) next->unpark();  // it finds nothing for itself, goes back to sleep, and watches
}

}  // namespace clump::fiber::progress_sleeper
