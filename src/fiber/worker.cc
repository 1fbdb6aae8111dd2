#include "fiber/worker.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/thread_name.h"
#include "fiber/awake_threads.h"
#include "fiber/exploration.h"
#include "fiber/help.h"
#include "fiber/kernel_state.h"
#include "fiber/meters.h"
#include "fiber/monitor.h"
#include "fiber/own_worker.h"
#include "fiber/processor_time.h"
#include "fiber/progress_sleeper.h"
#include "fiber/switch.h"
#include "fiber/world_stop.h"

namespace clump::fiber {

namespace {

using Clock = std::chrono::steady_clock;

// A worker that has fibers waiting and did not switch for so long is busy with one fiber: then the waiting
// ones can be taken. With a shorter time fibers would move although their home is about to run them.
constexpr std::chrono::microseconds kBusy{5};
// Empty polls of the idle loop before it sleeps: some tens of microseconds, several times what the kernel
// takes to wake a thread. Once in kPollsPerVictim polls it looks at another worker.
constexpr int kIdlePolls = 2000;
constexpr int kPollsPerVictim = 16;
// If other threads want the core: how often the idle loop gives its core away before it sleeps.
constexpr int kIdleYields = 64;
/// A yield is late after which others have computed. No thread yields for so many times its duration, so that
/// late ones cost a tenth of the time.
constexpr std::chrono::milliseconds kLateYield{1};
constexpr int kRestAfterLateYield = 9;
/// Of the steady clock. Any thread; what two of them write at once is the same to a moment.
constinit std::atomic<Clock::rep> cores_busy_until{0};
constexpr int kPollsAfterNap = 512;
// How often a worker thread looks once more before a nap: a store of another core that it may have missed is
// seen within these one or two microseconds.
constexpr int kLooksBeforeNap = 64;
// An idle worker thread looks at the other workers again a few times, each time after twice as long, and then
// relies on the monitor to wake it when there is something to take.
constexpr std::chrono::milliseconds kFirstNap{1};
constexpr int kNaps = 5;
// The longest sleep of an idle loop that keeps the time for fibers; for longer times the monitor keeps it.
constexpr std::chrono::milliseconds kLongestWatch{1};
constinit std::atomic<bool (*)(int)> poll_function{nullptr};
constinit std::atomic<bool (*)()> sleep_function{nullptr};

constinit int futex_scope = FUTEX_PRIVATE_FLAG;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, &word, operation | futex_scope, value, timeout, nullptr, 0);
}

}  // namespace

constinit std::span<Worker> workers;
constinit std::atomic<void (*)()> on_resume{nullptr};
constinit bool cores_are_shared = false;

constinit bool cores_are_offered = false;

void share_cores() noexcept { cores_are_shared = true; }
void offer_cores() noexcept { cores_are_offered = true; }

void barrier_everywhere() noexcept {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void listen_to(std::span<base::Bell> bells) {
  if (workers.empty()) return progress_sleeper::keep(bells.front());
  futex_scope = 0;  // shared with other processes
  for (std::size_t i = 0; i < workers.size(); ++i) workers[i].asleep = &bells[i].worker;
}

void Worker::empty_inbox() {
  for (Fiber* fiber = inbox.take_all(); fiber != nullptr;) {
    Fiber* const next = fiber->next;
    queue.push(*fiber);
    fiber = next;
  }
}

void Worker::wake_up() noexcept {
  awake_threads::one_awake();
  const std::uint32_t before = asleep->exchange(0, std::memory_order_acq_rel);
  // A thread that naps counts as awake.
  if (before == 0 || base::Bell::naps(before)) awake_threads::not_needed();
  if (before == 0) return;
  futex(*asleep, FUTEX_WAKE, INT_MAX, nullptr);  // a former worker thread may not have left the futex yet
  monitor::worker_woke();
}

void make_runnable(Fiber& fiber) {
  Worker& home = workers[static_cast<std::size_t>(fiber.home)];
  {
    const Section section;
    Worker* const mine = section.worker();
    if (mine != nullptr && mine == &home) return mine->queue.push(fiber);
  }
  home.inbox.push(fiber, std::memory_order_seq_cst);
  home.wake();
}

void switch_out(Fiber& self) { make_room(self); }

void look_and_go(Fiber& self, Worker& worker) {
  if (exploration::is_on) return go_to(self, exploration::next(worker));
  if (worker.switches.load(std::memory_order_relaxed) % kSwitchesPerPoll == 0) progress(worker.index);
  worker.empty_inbox();
  go_to(self, worker.queue.pop());
}

bool offer_core() noexcept {
  const auto before = Clock::now();
  if (before.time_since_epoch().count() < cores_busy_until.load(std::memory_order_relaxed)) return false;
  give_core_away();
  const auto after = Clock::now();
  if (after - before < kLateYield) return true;
  const auto until = after + kRestAfterLateYield * (after - before);
  cores_busy_until.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  return false;
}

bool take_in(int worker) {
  bool (*const poll)(int) = poll_function.load(std::memory_order_relaxed);
  return poll != nullptr && poll(worker);
}

bool progress(int worker) {
  const bool moved = take_in(worker);
  return help() || moved;
}

bool wake_idle_worker() noexcept {
  for (Worker& worker : workers) {
    const WorkerThread* const worker_thread = worker.worker_thread.load(std::memory_order_acquire);
    if (worker_thread == nullptr ||
        worker_thread->current.load(std::memory_order_relaxed) != &worker_thread->idle)
      continue;
    worker.wake();
    return true;
  }
  return false;
}

void on_progress(bool (*poll)(int)) { poll_function.store(poll, std::memory_order_release); }

bool may_sleep() {
  bool (*const ask)() = sleep_function.load(std::memory_order_relaxed);
  return ask == nullptr || ask();
}

void before_sleep(bool (*ask)()) { sleep_function.store(ask, std::memory_order_release); }

KernelState*& taken_on(WorkerThread& worker_thread) noexcept { return worker_thread.kernel_state; }

namespace {
constinit std::atomic<std::uint32_t> next_asleep_as{base::Bell::kLeast};
}

WorkerThread::WorkerThread(Worker* serves)
    : worker(serves),
      current(&idle),
      asleep_as_(next_asleep_as.fetch_add(base::Bell::kStep, std::memory_order_relaxed)) {
  idle.worker_thread = this;
}

void WorkerThread::await_sections() const {
  // acquire: pairs with the release at a section's end.
  while (sections.load(std::memory_order_acquire) != 0) ::usleep(20);
}

void await_owners(int worker) {
  barrier_everywhere();
  workers[static_cast<std::size_t>(worker)].worker_thread.load(std::memory_order_acquire)->await_sections();
}

bool WorkerThread::start() { return start_kernel_thread(&WorkerThread::begin, this); }

void* WorkerThread::begin(void* worker_thread) {
  auto& self = *static_cast<WorkerThread*>(worker_thread);
  detail::this_fiber = &self.idle;
  self.idle.context.thread_pointer = __builtin_thread_pointer();
  unregister_rseq();
  self.kernel_thread.store(static_cast<pid_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);
  ::pthread_getcpuclockid(::pthread_self(), &self.clock_);
  prepare_worker_thread();
  self.run();
  return nullptr;
}

void WorkerThread::run() {
  if (worker.load(std::memory_order_acquire) == nullptr) wait_for_worker();
  ::prctl(PR_SET_TIMERSLACK, 1);  // otherwise a thread that sleeps to keep the time is late by 50 us
  Worker* bound = nullptr;
  for (;;) {
    Worker* const serving = worker.load(std::memory_order_acquire);
    if (serving == nullptr) {
      hand_time_over();
      base::name_own_thread("spare");
      bound = nullptr;
      become_spare();
      continue;
    }
    if (serving != bound) {
      bind_to_core((bound = serving)->core);
      base::name_own_thread("worker", serving->index);
    }
    find_and_run();
  }
}

void WorkerThread::serve(Worker& given) {
  awake_threads::one_awake();
  given.worker_thread.store(this, std::memory_order_release);
  worker.store(&given, std::memory_order_release);  // release: pairs with the acquire in run()
  has_worker_.store(1, std::memory_order_release);
  futex(has_worker_, FUTEX_WAKE, 1, nullptr);
}

std::chrono::nanoseconds WorkerThread::used() const {
  timespec time{};
  ::clock_gettime(clock_, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void WorkerThread::become_spare() {
  is_stuck.store(false, std::memory_order_release);
  has_worker_.store(0, std::memory_order_relaxed);
  monitor::add_spare(*this);
  awake_threads::falls_asleep();
  wait_for_worker();
}

void WorkerThread::wait_for_worker() {
  while (has_worker_.load(std::memory_order_acquire) == 0) futex(has_worker_, FUTEX_WAIT, 0, nullptr);
}

/// One round of the idle loop.
void WorkerThread::find_and_run() {
  Worker* mine;
  {
    const Section section;
    mine = section.worker();
    Fiber* next = std::exchange(this->next, nullptr);
    if (mine == nullptr) {
      if (next != nullptr) make_runnable(*next);
      return;
    }
    if (next == nullptr && exploration::is_on) {
      next = exploration::next(*mine);
    } else if (next == nullptr) {
      mine->empty_inbox();
      next = mine->queue.pop();
    }
    if (next == nullptr && keeps_time && monitor::wake_due()) {
      mine->empty_inbox();
      next = mine->queue.pop();
    }
    if (next == nullptr && idle_polls_ % kPollsPerVictim == kPollsPerVictim - 1) next = steal(*mine);
    if (next != nullptr) {
      hand_time_over();
      idle_polls_ = idle_sleeps_ = 0;
      mine->switches.store(mine->switches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      while (!next->left_behind()) pause_cpu();
      switch_to(idle, *next);
      sections.store(1, std::memory_order_relaxed);  // the section's destructor leaves it
      if (keeps_processor_time()) [[unlikely]]
        detail::begin_turn();
      return;
    }
  }
  if (progress(mine->index) && (!cores_are_wanted() || has_runnable(*mine))) {
    idle_polls_ = 0;
  } else if (cores_are_wanted()) {
    const bool is_served = mine->threads_polling.load(std::memory_order_relaxed) > 0;
    if (is_served || ++idle_polls_ >= kIdleYields || !offer_core())
      idle_polls_ = sleep(*mine) ? 0 : kIdleYields;
  } else if (++idle_polls_ < kIdlePolls) {
    pause_or_offer(idle_polls_);
  } else {
    idle_polls_ = sleep(*mine) ? 0 : kIdlePolls - kPollsAfterNap;
  }
}

bool WorkerThread::has_runnable(const Worker& mine) const {
  const Section section;
  return section.worker() == &mine && mine.has_runnable();
}

/// Hands the time to the monitor, because what this thread does next may take long.
void WorkerThread::hand_time_over() {
  if (std::exchange(keeps_time, false)) monitor::keep_time();
}

/// Looks at one other worker, and takes a fiber from it if it has been busy with another one for a while. In
/// a section of `mine`; the monitor, if it is about to take `mine` away, waits for the section.
Fiber* WorkerThread::steal(Worker& mine) {
  if (workers.size() == 1) return nullptr;
  Worker& victim = workers[victim_.worker];
  const std::uint64_t switches = victim.switches.load(std::memory_order_relaxed);
  const auto now = Clock::now();
  if (&victim == &mine || !victim_.busy || switches != victim_.switches) {
    victim_.worker = (victim_.worker + 1) % workers.size();
    const Worker& next = workers[victim_.worker];
    victim_.switches = next.switches.load(std::memory_order_relaxed);
    victim_.since = now;
    victim_.busy = true;
    return nullptr;
  }
  if (now - victim_.since < kBusy) return nullptr;
  victim_.busy = false;  // the next look is at another worker
  progress(victim.index);
  Fiber* const taken = rob(mine, victim);
  if (taken != nullptr) {
    mine.taken.add();
    tell_move(taken->rank, Move::kTaken, mine.index);
  }
  return taken;
}

/// Takes the fibers that wait at `victim`: the caller has to run the first one.
Fiber* WorkerThread::rob(Worker& mine, Worker& victim) {
  if (Fiber* const fiber = victim.queue.pop()) return fiber;
  Fiber* const first = victim.inbox.take_all();
  if (first == nullptr) return nullptr;
  // The other ones go into this worker's queue, and run as stolen fibers, too.
  for (Fiber* fiber = first->next; fiber != nullptr;) {
    Fiber* const next = fiber->next;
    mine.queue.push(*fiber);
    fiber = next;
  }
  return first;
}

/// The last look before it sleeps, when `asleep` of the worker is set. True: there is something to do.
bool WorkerThread::looks_once_more(Worker& mine, bool before_nap) {
  const auto looks = [&] { return mine.has_runnable() || progress(mine.index); };
  if (!before_nap) {
    barrier_everywhere();
    return looks();
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with that of Bell::ring()
  for (int look = 0; look < kLooksBeforeNap; ++look) {
    if (looks()) return true;
    pause_cpu();
  }
  return false;
}

/// Sleeps. True: another thread had a reason to wake it.
///
/// A thread that leaves something for this worker checks `asleep` afterwards, with no barrier in between. So
/// this thread makes the barrier (membarrier), between its store to `asleep` and its last look. That
/// interrupts all cores on which ranks of this process compute. So a nap, which ends by itself, is without: a
/// thread that naps may have missed something, and counts as awake (tests/models/nap_model.cc).
bool WorkerThread::sleep(Worker& mine) {
  if (keeps_time && monitor::until_due() > kLongestWatch) hand_time_over();
  const bool naps = keeps_time || idle_sleeps_ < kNaps;
  const std::uint32_t asleep_as = naps ? asleep_as_ | base::Bell::kNap : asleep_as_;
  bool stays = false;
  {
    const Section section;
    if (section.worker() == nullptr) return true;
    mine.asleep->store(asleep_as, std::memory_order_seq_cst);
    stays = looks_once_more(mine, naps) || !may_sleep();
    if (stays) {
      if (mine.asleep->exchange(0, std::memory_order_acq_rel) == 0 && !naps) awake_threads::not_needed();
      monitor::worker_woke();  // it may have seen this worker asleep
    }
  }
  if (stays) {
    // Perhaps because of a thread that needs this core, such as one that takes in the messages.
    if (!has_runnable(mine)) give_core_away();
    return true;
  }
  // From here on the monitor may take the worker away at any time. It wakes this thread then; after that
  // `asleep` tells of the next worker thread.
  if (naps) return nap(mine, asleep_as);
  sleep_for_long(mine);
  return true;
}

bool WorkerThread::nap(Worker& mine, std::uint32_t asleep_as) {
  std::chrono::nanoseconds limit = kFirstNap * (1 << idle_sleeps_);
  if (keeps_time)
    limit = std::clamp(monitor::until_due(), std::chrono::nanoseconds(0), limit);
  else
    ++idle_sleeps_;
  const timespec time{0, limit.count()};
  bool was_woken = true;
  awake_threads::one_rests();
  while (was_woken && mine.asleep->load(std::memory_order_acquire) == asleep_as)
    was_woken = futex(*mine.asleep, FUTEX_WAIT, asleep_as, &time) == 0 || errno != ETIMEDOUT;
  awake_threads::note_wake();
  awake_threads::one_goes_on();
  {
    const Section section;
    if (section.worker() == &mine) mine.asleep->exchange(0, std::memory_order_acq_rel);
  }
  monitor::worker_woke();
  return was_woken;
}

void WorkerThread::sleep_for_long(Worker& mine) {
  awake_threads::falls_asleep();
  sleeps_for_long();
  while (mine.asleep->load(std::memory_order_acquire) == asleep_as_)
    futex(*mine.asleep, FUTEX_WAIT, asleep_as_, nullptr);
  awake_threads::note_wake();
  // A process that rings cannot count this thread as awake, or tell the monitor.
  if (base::Bell::is_rung(mine.asleep->load(std::memory_order_relaxed))) {
    awake_threads::one_awake();
    const Section section;
    if (section.worker() != &mine || mine.asleep->exchange(0, std::memory_order_acq_rel) == 0)
      awake_threads::not_needed();
  }
  if (mine.asleep != &mine.own_asleep) monitor::worker_woke();
}

}  // namespace clump::fiber
