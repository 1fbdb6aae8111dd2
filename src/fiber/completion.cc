#include "fiber/completion.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "fiber/core_watch.h"
#include "fiber/exploration.h"
#include "fiber/help.h"
#include "fiber/interrupt.h"
#include "fiber/own_worker.h"
#include "fiber/polling.h"
#include "fiber/progress_sleeper.h"
#include "fiber/rank_callbacks.h"
#include "fiber/switch.h"
#include "fiber/worker.h"
#include "fiber/world_stop.h"

namespace clump::fiber {

namespace {

// How many polls the spin phase has. Each is a pause of some 40 cycles: about 20 microseconds in all, several
// times what a futex wake-up takes.
constexpr int kSpinPolls = 2000;

std::atomic<bool> spinning{false};

bool any_done(std::span<Completion* const> completions) {
  for (const Completion* c : completions)
    if (c != nullptr && c->done()) return true;
  return false;
}

// If processes or threads share cores: how often a thread gives its core to another one before it sleeps.
// What it waits for is likely to come from one of them, and a switch by yielding costs less than a sleep and
// a wake-up.
constexpr int kYields = 64;

/// While one lives, the calling thread of control waits; tells the observer, if the rank is watched.
class Wait {
 public:
  Wait() : is_watched_(RankCallbacks::watched_here()) {
    if (is_watched_) RankCallbacks::observer->wait_begins();
  }
  ~Wait() {
    if (is_watched_) RankCallbacks::observer->wait_ended();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  const bool is_watched_;
};

/// The inlet through which messages of the calling kernel thread's rank come, which the thread serves while
/// it waits; -1: other threads serve it.
int own_inlet() { return progress_sleeper::is_kept() ? 0 : worker_beside(); }

/// Whether a kernel thread that waits polls before it sleeps. It does so although other threads of its rank
/// may want the core: if its partner runs now, the message comes sooner than the kernel switches threads. If
/// not, the thread sleeps soon, and fewer threads are left to take turns.
bool may_spin() { return is_spinning() && !cores_are_shared; }

/// While one lives, the calling kernel thread sleeps and does not take in the messages that come to its
/// rank's worker.
class SleepsBeside {
 public:
  explicit SleepsBeside(int worker) : worker_(worker) {
    if (worker < 0) return;
    threads_asleep().fetch_add(1, std::memory_order_relaxed);
    // A thread that has left a message without seeing this count has left it before the barrier: the caller
    // finds it.
    barrier_everywhere();
  }
  ~SleepsBeside() {
    if (worker_ >= 0) threads_asleep().fetch_sub(1, std::memory_order_relaxed);
  }
  SleepsBeside(const SleepsBeside&) = delete;
  SleepsBeside& operator=(const SleepsBeside&) = delete;
  /// Takes in messages. To be repeated until it finds none.
  bool take_in_the_last() const { return worker_ >= 0 && take_in(worker_); }

 private:
  std::atomic<int>& threads_asleep() const {
    return workers[static_cast<std::size_t>(worker_)].threads_asleep;
  }
  const int worker_;
};

/// While one lives, the calling kernel thread polls, and takes in the messages that come to its rank's
/// worker.
class PollsBeside {
 public:
  explicit PollsBeside(int worker) : worker_(worker) { serve(); }
  ~PollsBeside() {
    if (worker_ < 0) return;
    const bool served = stop();
    of_this_thread = nullptr;
    if (!served) return;
    // What has been left here without a wake-up is the caller's, or the worker's if more and more comes.
    int looks = 0;
    while (looks < kLastLooks && take_in(worker_)) ++looks;
    if (looks == kLastLooks) worker().wake();
  }
  PollsBeside(const PollsBeside&) = delete;
  PollsBeside& operator=(const PollsBeside&) = delete;
  /// Before each poll: from here on the worker is not woken.
  void serve() {
    if (worker_ < 0 || serves_) return;
    of_this_thread = this;
    serves_ = true;
    // A handler that comes in between finds the count too low, not too high.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    worker().threads_polling.fetch_add(1, std::memory_order_relaxed);
  }
  /// What has been left here, and what will be, is the worker's. Forgets this object: the caller may be a
  /// signal handler that does not return.
  void leave_to_worker() {
    of_this_thread = nullptr;
    if (stop()) worker().wake();
  }
  /// The one that serves; of the thread and its signal handlers.
  static constinit thread_local PollsBeside* of_this_thread;

 private:
  static constexpr int kLastLooks = 8;
  Worker& worker() const { return workers[static_cast<std::size_t>(worker_)]; }
  bool stop() {
    if (!std::exchange(serves_, false)) return false;
    worker().threads_polling.fetch_sub(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // see is_served()
    return true;
  }
  const int worker_;
  bool serves_ = false;
};
constinit thread_local PollsBeside* PollsBeside::of_this_thread = nullptr;

/// Polls as a kernel thread until `over`, for as long as it pays; `step`: how many polls one look counts for.
template <typename Over>
bool poll_in_kernel_thread(Over over, int step = 1) {
  PollsBeside polls(worker_beside());
  const int inlet = own_inlet();
  const bool spins = may_spin();
  const int most = spins ? kSpinPolls : inlet >= 0 ? kYields : 0;
  for (int poll = 0; poll < most; poll += step) {
    if (over()) return true;
    polls.serve();
    const bool moved = inlet >= 0 && take_in(inlet);
    if ((poll % kPollsPerHelp == 0 && help()) || moved) continue;
    if (!spins) {
      if (!offer_core()) break;
    } else if (poll > kEagerPolls || cores_are_offered || inlet < 0) {
      pause_or_offer(poll);
    }
  }
  return over();
}

}  // namespace

CoreWatch* CoreWatch::watch = nullptr;

void begin_long_work() noexcept {
  if (PollsBeside* const polls = PollsBeside::of_this_thread) polls->leave_to_worker();
}

namespace {

/// The type of all Waiters.
struct TimedWaiter : Waiter {
  /// When the fiber was woken, if there is a CoreWatch. Written by the thread that wakes it. relaxed: the
  /// fiber goes on after that.
  std::atomic<std::uint64_t> woken{0};
};

}  // namespace

/// Gives a Waiter to each thread and takes it back when the thread ends.
struct WaiterPool {
  std::mutex mutex;
  Waiter* idle = nullptr;  // linked by next_idle_
  Waiter* made = nullptr;  // all of them, linked by next_made_

  Waiter* take() {
    const std::lock_guard lock(mutex);
    Waiter* const waiter = idle != nullptr ? std::exchange(idle, idle->next_idle_) : make();
    waiter->fiber_ = this_fiber();
    // release: pairs with the acquire in wake_to_attend().
    if (waiter->fiber_ != nullptr) waiter->fiber_->waiter.store(waiter, std::memory_order_release);
    return waiter;
  }

  Waiter* make() {
    auto* const waiter = new TimedWaiter;
    waiter->next_made_ = std::exchange(made, waiter);
    return waiter;
  }

  void give_back(Waiter* waiter) {
    const std::lock_guard lock(mutex);
    waiter->next_idle_ = std::exchange(idle, waiter);
  }
};

namespace {
constinit WaiterPool pool;
}  // namespace

Waiter& Waiter::mine() {
  struct Lease {
    Waiter* waiter = pool.take();
    ~Lease() { pool.give_back(waiter); }
  };
  thread_local Lease lease;
  return *lease.waiter;
}

void Waiter::park() {
  const bool looks_out = fiber_ == nullptr && progress_sleeper::is_kept();
  const bool watches = looks_out && progress_sleeper::begin(*this);
  const std::uint32_t asleep = watches ? kWatching : kAsleep;
  std::uint32_t expected = kIdle;
  if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel)) {
    if (fiber_ != nullptr)
      switch_out(*fiber_);
    else
      sleep_in_kernel(asleep);
  }
  // acquire: pairs with the release in unpark(), so that the caller sees what it was woken for. An exchange,
  // because a store would overwrite an unpark() that comes in between.
  state_.exchange(kIdle, std::memory_order_acq_rel);
  if (looks_out) progress_sleeper::end(*this, watches);
}

void Waiter::sleep_in_kernel(std::uint32_t asleep) {
  const SleepsBeside sleeps(worker_beside());
  while (state_.load(std::memory_order_relaxed) == asleep && sleeps.take_in_the_last()) give_core_away();
  clump_note_registers(&told_.registers);
  told_ = {this, identity(), told_.registers, detail::innermost_wait, __builtin_thread_pointer()};
  tells_.store(true, std::memory_order_release);
  awake_threads::falls_asleep();
  const auto sleep = [&](const timespec* limit) {
    while (state_.load(std::memory_order_relaxed) == asleep)
      if (syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, asleep, limit, nullptr, 0) != 0 &&
          errno == ETIMEDOUT)
        return;
  };
  if (asleep == kWatching) {
    progress_sleeper::sleep_while(state_, asleep);
  } else {
    sleep(&kUntilLong);
    if (state_.load(std::memory_order_relaxed) == asleep) sleeps_for_long();
    sleep(nullptr);
  }
  awake_threads::note_wake();
  // seq_cst: either this thread or the one that begins a WorldStop sees what the other has stored.
  tells_.store(false, std::memory_order_seq_cst);
  detail::stay_while_stopped();
}

void Waiter::add_blocked(std::vector<BlockedThread>& sleepers) {
  const std::lock_guard lock(pool.mutex);
  for (const Waiter* waiter = pool.made; waiter != nullptr; waiter = waiter->next_made_)
    if (waiter->tells_.load(std::memory_order_seq_cst)) sleepers.push_back(waiter->told_);
}

int Waiter::count_blocked() {
  const std::lock_guard lock(pool.mutex);
  int count = 0;
  for (const Waiter* waiter = pool.made; waiter != nullptr; waiter = waiter->next_made_)
    if (waiter->tells_.load(std::memory_order_seq_cst) &&
        waiter->state_.load(std::memory_order_seq_cst) != kPermitted)
      ++count;
  return count;
}

const void* Completion::sleeper() const noexcept {
  const std::uintptr_t state = state_.load(std::memory_order_acquire);
  if (state == kPending || state == kDone || state == kAbandoned) return nullptr;
  if ((state & kFiber) != 0) return reinterpret_cast<const void*>(state & ~(kFiber | kExpected));
  const Waiter* const waiter = reinterpret_cast<const Waiter*>(state);
  return waiter->fiber_ != nullptr ? static_cast<const void*>(waiter->fiber_) : waiter;
}

void Waiter::unpark() {
  std::uint32_t state = state_.load(std::memory_order_relaxed);
  for (;;) {
    const bool asleep = state == kAsleep || state == kWatching;
    // Counted awake before it can wake: otherwise it could be asleep again before the count, and look like
    // the last one.
    const bool count = asleep && fiber_ == nullptr;
    if (count) awake_threads::one_awake();
    // release: pairs with the acquire in park(). seq_cst: see progress_sleeper::wake_up().
    if (state_.compare_exchange_strong(state, kPermitted, std::memory_order_seq_cst)) {
      if (!asleep) return;
      if (fiber_ != nullptr) {
        if (CoreWatch::watch != nullptr)
          static_cast<TimedWaiter*>(this)->woken.store(CoreWatch::watch->now(), std::memory_order_relaxed);
        return make_runnable(*fiber_);
      }
      if (state == kWatching) return progress_sleeper::wake_up();
      syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
      return;
    }
    if (count) awake_threads::not_needed();
  }
}

void Completion::wake(std::uintptr_t who) {
  if ((who & kFiber) != 0) return make_runnable(*reinterpret_cast<Fiber*>(who & ~(kFiber | kExpected)));
  reinterpret_cast<Waiter*>(who)->unpark();
}

// All messages between ranks of one worker that are waited for take this path.
bool Completion::expect() noexcept {
  Fiber* const self = this_fiber();
  if (self == nullptr || RankCallbacks::waits_in_other_ways() || may_poll(*self)) return false;
  // relaxed: other threads learn of it together with the work.
  state_.store(reinterpret_cast<std::uintptr_t>(self) | kFiber | kExpected, std::memory_order_relaxed);
  return true;
}

void Completion::wait_expected() noexcept { make_room(*this_fiber()); }

// The shortest path is that of a fiber that lets others run.
void Completion::sleep_until_signal() {
  Fiber* const self = this_fiber();
  if (self == nullptr || RankCallbacks::waits_in_other_ways()) [[unlikely]]
    return sleep_otherwise();
  if (may_poll(*self)) return poll_and_sleep(*self);
  leave_name_and_sleep(*self);
}

[[gnu::always_inline]] inline void Completion::leave_name_and_sleep(Fiber& self) {
  std::uintptr_t expected = kPending;
  // release: the thread that signals resumes the fiber through this pointer; acquire on failure: the work's
  // results.
  if (state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&self) | kFiber,
                                     std::memory_order_acq_rel, std::memory_order_acquire)) [[likely]]
    make_room(self);
}

[[gnu::noinline]] void Completion::poll_and_sleep(Fiber& self) {
  if (!poll_in_place(self, [this] { return done(); })) leave_name_and_sleep(self);
}

[[gnu::noinline]] void Completion::sleep_otherwise() {
  const Wait wait;
  sleep_unwatched();
}

void Completion::sleep_unwatched() {
  Fiber* const self = this_fiber();
  // A watched fiber waits as for several completions, because then the time at which it was woken is known.
  RankCallbacks* const callbacks = RankCallbacks::expected_here();
  if (callbacks != nullptr ||
      (self != nullptr && CoreWatch::watch != nullptr && RankCallbacks::watched_here())) {
    Completion* const one = this;
    return wait_with_callbacks({&one, 1}, callbacks);
  }
  if (self == nullptr) return sleep_as_kernel_thread();
  if (RankCallbacks::parks_here()) {
    Completion* const one = this;
    return wait_for_any({&one, 1}, nullptr);
  }
  if (may_poll(*self)) return poll_and_sleep(*self);
  leave_name_and_sleep(*self);
}

void Completion::sleep_as_kernel_thread() {
  if (poll_in_kernel_thread([this] { return done(); })) return;
  Waiter& me = Waiter::mine();
  std::uintptr_t expected = kPending;
  // release: signal() reads the Waiter through this pointer; acquire on failure: the work's results.
  if (!state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&me),
                                      std::memory_order_acq_rel, std::memory_order_acquire))
    return;
  while (!done()) me.park();
}

namespace {

/// From now on call() of the rank's callbacks finds the calling fiber, which is the rank's main thread. It
/// stays in their list, so that a wait takes no lock; `me` keeps an unpark() that comes while it does not
/// wait.
[[gnu::noinline]] void stay_callable(RankCallbacks& callbacks, Waiter& me) {
  thread_local const CallbackWait callable(&callbacks, me);
  static_cast<void>(callable);
}

}  // namespace

void Completion::wait_for_any(std::span<Completion* const> completions, RankCallbacks* callbacks) {
  const auto over = [&] { return any_done(completions) || (callbacks != nullptr && callbacks->any()); };
  const Fiber* const self = this_fiber();
  if (self != nullptr) {
    if (may_poll(*self) && poll_in_place(*self, over)) return;
  } else {
    const int step = completions.size() > 1 ? static_cast<int>(completions.size()) + 1 : 1;
    if (poll_in_kernel_thread(over, step)) return;
  }
  // Leave this thread's Waiter at each of them; the first that is signalled wakes the thread. Remove the
  // Waiter afterwards: an operation that stays pending will be waited for again, perhaps by another thread.
  Waiter& me = Waiter::mine();
  const auto name = reinterpret_cast<std::uintptr_t>(&me);
  bool found = false;
  for (Completion* c : completions) {
    if (c == nullptr) continue;
    std::uintptr_t expected = kPending;
    if (!c->state_.compare_exchange_strong(expected, name, std::memory_order_acq_rel,
                                           std::memory_order_acquire))
      found = true;
  }
  auto& woken = static_cast<TimedWaiter&>(me).woken;
  woken.store(0, std::memory_order_relaxed);
  {
    const bool stays = callbacks != nullptr && self != nullptr;
    if (stays) stay_callable(*callbacks, me);
    const CallbackWait callable(stays ? nullptr : callbacks, me);
    while (!found && !over()) {
      me.park();
      if (void (*const attend)() = detail::wake_function.load(std::memory_order_acquire)) attend();
    }
  }
  if (const std::uint64_t since = woken.load(std::memory_order_relaxed);
      since != 0 && RankCallbacks::watched_here())
    CoreWatch::watch->had_no_core(since);
  for (Completion* c : completions) {
    std::uintptr_t expected = name;
    if (c != nullptr) c->state_.compare_exchange_strong(expected, kPending, std::memory_order_relaxed);
  }
}

void Completion::wait_with_callbacks(std::span<Completion* const> completions, RankCallbacks* callbacks) {
  do {
    if (callbacks != nullptr) callbacks->run();
    wait_for_any(completions, callbacks);
  } while (callbacks != nullptr && (callbacks->any() || !any_done(completions)));
}

void wait_any(std::span<Completion* const> completions) {
  const Wait wait;
  Completion::wait_with_callbacks(completions, RankCallbacks::expected_here());
}

bool poll_for(const std::atomic<std::uint64_t>& word, std::uint64_t least, std::atomic<int>* pollers) {
  const auto over = [&] { return word.load(std::memory_order_acquire) >= least; };
  const Fiber* const self = this_fiber();
  if (self != nullptr && !may_poll(*self)) return over();
  const Wait wait;
  if (pollers != nullptr) pollers->fetch_add(1, std::memory_order_relaxed);
  if (self != nullptr)
    poll_in_place(*self, over);
  else
    poll_in_kernel_thread(over);
  if (pollers != nullptr) pollers->fetch_sub(1, std::memory_order_seq_cst);
  return over();
}

void set_spinning(bool spin) { spinning.store(spin, std::memory_order_relaxed); }
bool is_spinning() noexcept { return spinning.load(std::memory_order_relaxed); }

}  // namespace clump::fiber
