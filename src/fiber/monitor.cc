#include "fiber/monitor.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_name.h"
#include "base/why_refused.h"
#include "fiber/awake_threads.h"
#include "fiber/meters.h"
#include "fiber/watching.h"

namespace clump::fiber::monitor {

namespace {

using Clock = std::chrono::steady_clock;

// A worker thread that was seen with the same fiber in this many looks in a row, while others waited, loses
// its worker: after 10 to 15 ms.
constexpr std::chrono::milliseconds kLook{5};
constexpr int kLooks = 3;
// After so many failures in a row the user is told: some seconds.
constexpr int kRefusalsToTell = 300;

struct WakesLater {
  bool operator()(const Fiber* a, const Fiber* b) const { return a->wake_at > b->wake_at; }
};

// The monitor's lock. Short sections only: a fiber that holds it keeps its worker thread.
std::mutex lock;
/// The fibers that sleep; the first one to be woken is at the top.
struct Sleepers : std::priority_queue<Fiber*, std::vector<Fiber*>, WakesLater> {
  bool remove(const Fiber* fiber) {
    const auto at = std::ranges::find(c, fiber);
    if (at == c.end()) return false;
    c.erase(at);
    std::ranges::make_heap(c, comp);
    return true;
  }
};
auto& sleepers = *new Sleepers;
WorkerThread* spares = nullptr;

// When the first of them is to be woken; written with the lock held. relaxed: a thread that has added a fiber
// knows the value.
constinit std::atomic<Clock::time_point> first_due{Clock::time_point::max()};
// When the monitor will look at them; kNotPlanned while it looks. The monitor stores that before it takes the
// lock, so a thread whose fiber it has not seen cannot read an older plan.
constexpr auto kNotPlanned = Clock::time_point::max();
constinit std::atomic<Clock::time_point> planned{kNotPlanned};

// Futex: incremented when the monitor has something new to look at.
constinit std::atomic<std::uint32_t> news{0};
constinit Watching watching;
constinit std::atomic<pid_t> own_number{0};

// For tools. Written by the monitor only.
constinit base::Counter workers_stuck, worker_threads_made;

/// A worker thread without a worker, and the processor time that it had used at the last look.
struct Stuck {
  WorkerThread* worker_thread;
  std::chrono::nanoseconds used = worker_thread->used();
  Clock::time_point looked = Clock::now();
  bool rests = false;  ///< its fiber waits in the kernel: between two looks it has hardly used its core
};
// Used by the monitor only.
auto& stuck_ones = *new std::vector<Stuck>;

struct Watch {
  std::uint64_t switches = 0;
  int looks = 0;
  int refusals = 0;
};

void tell() noexcept {
  news.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &news, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Called with the lock held.
void note_first() noexcept {
  first_due.store(sleepers.empty() ? Clock::time_point::max() : sleepers.top()->wake_at,
                  std::memory_order_relaxed);
}

/// Makes a sleeping fiber runnable, because its time has come or because it was woken early.
void goes_on(Fiber& fiber) {
  make_runnable(fiber);
  awake_threads::one_goes_on();
  awake_threads::falls_asleep();  // a sleeping fiber counts as awake itself; from now on its worker does
}

/// Makes the fibers runnable whose time has come. Returns when the next one is to be woken.
Clock::time_point wake_sleepers() {
  for (;;) {
    Fiber* fiber;
    {
      const std::lock_guard guard(lock);
      if (sleepers.empty()) return Clock::time_point::max();
      if (sleepers.top()->wake_at > Clock::now()) return sleepers.top()->wake_at;
      fiber = sleepers.top();
      sleepers.pop();
      note_first();
    }
    goes_on(*fiber);
  }
}

WorkerThread* take_spare() {
  {
    const std::lock_guard guard(lock);
    if (WorkerThread* const spare = spares) {
      spares = spare->next_spare;
      return spare;
    }
  }
  auto* const fresh = new WorkerThread(nullptr);
  if (fresh->start()) {
    worker_threads_made.add();
    return fresh;
  }
  delete fresh;
  return nullptr;
}

/// Gives `worker` another worker thread; the busy one goes on without a worker. False, with errno, if there
/// is no thread for that: then the waiting fibers have to wait.
bool replace_worker_thread(Worker& worker) {
  WorkerThread* const spare = take_spare();
  if (spare == nullptr) return false;
  WorkerThread& busy = *worker.worker_thread.load(std::memory_order_relaxed);
  workers_stuck.add();
  tell_move(busy.current.load(std::memory_order_relaxed)->rank, Move::kStuck, worker.index);
  awake_threads::one_awake();  // the monitor: what it does here must not look like a deadlock
  busy.is_stuck.store(true, std::memory_order_relaxed);
  stuck_ones.push_back({&busy});
  busy.worker.store(nullptr, std::memory_order_seq_cst);
  // From here on a section that begins sees no worker; await_sections() sees those that have begun.
  barrier_everywhere();
  busy.await_sections();
  worker.wake();  // the worker thread may have gone to sleep meanwhile
  spare->serve(worker);
  awake_threads::falls_asleep();
  return true;
}

/// Tells the user. The busy rank may wait, outside MPI, for what the waiting fibers do: then this is a hang,
/// and nothing else reports it.
void tell_of_refusal(const Worker& worker, int error) {
  const Fiber* const holder =
      worker.worker_thread.load(std::memory_order_relaxed)->current.load(std::memory_order_relaxed);
  const std::string words = fmt::format(
      "Clump: rank {} has not called MPI for some seconds, other ranks on its core wait for that, and there "
      "is no thread to run them "
      "meanwhile: {}\n",
      holder->rank != nullptr ? holder->rank->rank : -1, base::why_refused("pthread_create", error));
  ::syscall(SYS_write, STDERR_FILENO, words.data(), words.size());
}

bool is_asleep(const Worker& worker) { return worker.asleep->load(std::memory_order_seq_cst) != 0; }

void look_after(Worker& worker, Watch& watch) {
  const std::uint64_t switches = worker.switches.load(std::memory_order_relaxed);
  const WorkerThread& worker_thread = *worker.worker_thread.load(std::memory_order_relaxed);
  const bool busy = switches == watch.switches &&
                    worker_thread.current.load(std::memory_order_relaxed) != &worker_thread.idle;
  watch.switches = switches;
  if (!busy) {
    watch = {.switches = switches};
    return;
  }
  awake_threads::one_awake();  // the monitor: what it takes out of a lane can still wake others
  progress(worker.index);
  awake_threads::falls_asleep();
  if (!worker.has_runnable()) return;
  const auto idle = std::ranges::find_if(workers, is_asleep);
  if (idle != workers.end()) return idle->wake();  // so that it takes what waits here
  if (++watch.looks < kLooks) return;
  watch.looks = 0;
  if (replace_worker_thread(worker)) {
    watch.refusals = 0;
  } else if (++watch.refusals == kRefusalsToTell) {
    tell_of_refusal(worker, errno);
  }
}

/// Looks at a worker thread without a worker. True: it needs no further looks.
bool look_at(Stuck& stuck) {
  const bool goes_on = !stuck.worker_thread->is_stuck.load(std::memory_order_acquire);
  const auto now = Clock::now();
  const std::chrono::nanoseconds used = stuck.worker_thread->used();
  const bool rests = !goes_on && 100 * (used - stuck.used) < now - stuck.looked;
  stuck.used = used;
  stuck.looked = now;
  if (rests != stuck.rests) rests ? awake_threads::one_rests() : awake_threads::one_goes_on();
  stuck.rests = rests;
  return goes_on;
}

void* run(void*) {
  base::name_own_thread("monitor");
  own_number.store(static_cast<pid_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);
  std::vector<Watch> watches(workers.size());
  for (;;) {
    const std::uint32_t seen = news.load(std::memory_order_acquire);
    planned.store(kNotPlanned, std::memory_order_relaxed);
    Clock::time_point next = wake_sleepers();
    if (watching.goes_on([] { return std::ranges::all_of(workers, is_asleep); })) {
      std::erase_if(stuck_ones, look_at);
      for (std::size_t i = 0; i < watches.size(); ++i) look_after(workers[i], watches[i]);
      next = std::min(next, Clock::now() + kLook);
    }
    planned.store(next, std::memory_order_relaxed);
    const auto left = std::max<std::chrono::nanoseconds>(next - Clock::now(), std::chrono::nanoseconds(0));
    const timespec time{static_cast<time_t>(left / std::chrono::seconds(1)),
                        static_cast<long>((left % std::chrono::seconds(1)).count())};
    const timespec* const timeout = next == Clock::time_point::max() ? nullptr : &time;
    ::syscall(SYS_futex, &news, FUTEX_WAIT_PRIVATE, seen, timeout, nullptr, 0);
  }
}

}  // namespace

bool start() { return start_kernel_thread(&run, nullptr); }

void add_sleeper(Fiber& fiber) {
  awake_threads::one_awake();
  awake_threads::one_rests();
  const std::lock_guard guard(lock);
  sleepers.push(&fiber);
  note_first();
}

bool wake_early(Fiber& fiber) {
  {
    const std::lock_guard guard(lock);
    if (!sleepers.remove(&fiber)) return false;
    note_first();
  }
  goes_on(fiber);
  return true;
}

void keep_time() noexcept {
  const auto due = first_due.load(std::memory_order_relaxed), plan = planned.load(std::memory_order_relaxed);
  if (due != Clock::time_point::max() && (due < plan || plan == kNotPlanned)) tell();
}

std::chrono::nanoseconds until_due() noexcept {
  const auto due = first_due.load(std::memory_order_relaxed);
  return due == Clock::time_point::max() ? std::chrono::nanoseconds::max() : due - Clock::now();
}

bool wake_due() {
  if (until_due() > std::chrono::nanoseconds(0)) return false;
  wake_sleepers();
  return true;
}

void worker_woke() noexcept {
  if (watching.begin()) tell();
}

std::uint64_t stuck() noexcept { return workers_stuck.value(); }
std::uint64_t extra_worker_threads() noexcept { return worker_threads_made.value(); }

pid_t thread() noexcept { return own_number.load(std::memory_order_relaxed); }

bool has_to_do() noexcept {
  return first_due.load(std::memory_order_relaxed) != Clock::time_point::max() ||
         std::ranges::any_of(workers, [](const Worker& worker) { return worker.has_runnable(); });
}

void add_spare(WorkerThread& worker_thread) {
  const std::lock_guard guard(lock);
  worker_thread.next_spare = spares;
  spares = &worker_thread;
}

}  // namespace clump::fiber::monitor
