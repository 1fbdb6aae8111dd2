// Workers and their kernel threads. fiber.h explains the model; other layers use own_worker.h.
//
//   Worker (a core, a run queue)  --worker_thread-->  WorkerThread (a kernel thread)
//   WorkerThread  --current-->  Fiber (a rank)
//
// A worker has one worker thread at a time. If a fiber keeps it busy for too long while others wait, the
// monitor gives the worker to another worker thread. The old one runs its fiber to the fiber's next wait and
// becomes a spare.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

#include "base/counter.h"
#include "fiber/awake_threads.h"
#include "fiber/exploration.h"
#include "fiber/run_queue.h"

namespace clump::fiber {

struct Worker;

/// A kernel thread that runs fibers, for the worker that it serves. One that has lost its worker, because its
/// fiber was busy for too long, runs this fiber to its next wait and becomes a spare.
class WorkerThread {
 public:
  explicit WorkerThread(Worker* serves);

  /// Starts its kernel thread; false if there cannot be another one. With a worker, it is already counted as
  /// awake.
  bool start();
  /// Gives a worker to a spare.
  void serve(Worker& worker);
  /// The processor time that its kernel thread has used so far.
  std::chrono::nanoseconds used() const;

  std::atomic<Worker*> worker;  ///< null: it is a spare, or will soon be one
  /// The depth of sections (see Section). Written only by this worker thread's kernel thread; the monitor
  /// reads it.
  std::atomic<int> sections{0};
  std::atomic<Fiber*> current;  ///< the fiber that runs, or `idle`
  /// Whether its worker was taken away and it is not a spare yet. The monitor sets it.
  std::atomic<bool> is_stuck{false};
  bool keeps_time = false;  ///< its idle loop wakes sleeping fibers; the monitor may not know of them
  Fiber* next = nullptr;    ///< what the idle loop has to run first
  Fiber idle;               ///< the kernel thread's own context, which looks for work
  /// Returns when the sections that there were before the last barrier_everywhere() have ended.
  void await_sections() const;
  KernelState* kernel_state = nullptr;
  WorkerThread* next_spare = nullptr;
  std::atomic<pid_t> kernel_thread{0};  ///< its number; 0 until it has begun

 private:
  void run();
  void find_and_run();
  void become_spare();
  void wait_for_worker();
  bool sleep(Worker& worker);
  bool has_runnable(const Worker& mine) const;
  bool looks_once_more(Worker& mine, bool before_nap);
  bool nap(Worker& mine, std::uint32_t asleep_as);
  void sleep_for_long(Worker& mine);
  void hand_time_over();
  Fiber* steal(Worker& mine);
  Fiber* rob(Worker& mine, Worker& victim);
  static void* begin(void* worker_thread);

  /// What `asleep` of its worker is while it sleeps for long (see base::Bell): another number for each worker
  /// thread. One that loses its worker while it sleeps so does not take the sleep of its successor for its
  /// own.
  const std::uint32_t asleep_as_;
  std::atomic<std::uint32_t> has_worker_{0};  // futex
  clockid_t clock_{};                         // of its kernel thread, from its start
  int idle_polls_ = 0;
  int idle_sleeps_ = 0;  // in a row
  // The worker that is looked at as a victim: fibers are taken from it if it stays busy with one fiber.
  struct {
    std::size_t worker = 0;
    std::uint64_t switches = 0;
    std::chrono::steady_clock::time_point since;
    bool busy = false;
  } victim_;
};

/// A place to run fibers.
struct alignas(64) Worker {
  int index = 0;
  int core = -1;
  RunQueue queue;
  std::atomic<std::uint64_t> switches{0};  ///< counted by its worker thread: if the count stands still while
                                           ///< a fiber runs, the worker is busy
  std::uint64_t switches_to_look;          ///< the worker looks at what comes in once in so many switches: a
                                           ///< power of two, less one
  base::Counter taken;                     ///< fibers taken from other workers, counted by its worker thread
  std::atomic<WorkerThread*> worker_thread{nullptr};
  /// Futex; not 0: its worker thread sleeps (see base::Bell). Any thread wakes it; only the worker thread, in
  /// a section, sets it to another number than 0. A word of its own or, if there are other processes, of its
  /// bell.
  std::atomic<std::uint32_t>* asleep = &own_asleep;
  alignas(64) Inbox inbox;
  alignas(64) std::atomic<std::uint32_t> own_asleep{0};
  /// How many kernel threads of ranks that are at home here sleep. The worker thread may be busy outside MPI
  /// with a fiber of such a rank. So while some sleep and none polls, a sender takes its message in. A sender
  /// of another process cannot: then an idle worker does it, or the monitor when it looks next.
  std::atomic<int> threads_asleep{0};
  /// How many kernel threads of ranks that are at home here poll, because they wait: they take in what comes
  /// for this worker. While some do, what is left here wakes no worker thread, and an idle one goes to sleep.
  std::atomic<int> threads_polling{0};

  bool has_runnable() const { return !queue.empty() || !inbox.empty(); }
  /// Moves the fibers in the inbox to the queue. By its worker thread, in a section.
  void empty_inbox();
  /// Wakes the worker thread if it sleeps. Any thread.
  void wake() noexcept {
    if (asleep->load(std::memory_order_seq_cst) != 0) [[unlikely]]  // seq_cst: see WorkerThread::sleep
      wake_up();
  }

 private:
  CLUMP_HOST_API void wake_up() noexcept;
};

/// While one lives, the calling kernel thread is the only one that acts for its worker: the monitor waits.
/// Entering costs two plain memory accesses, because the monitor makes the barrier (membarrier).
class Section {
 public:
  [[gnu::always_inline]] Section() noexcept
      : worker_thread_(this_fiber() != nullptr ? this_fiber()->worker_thread : nullptr), worker_(nullptr) {
    if (worker_thread_ == nullptr) return;
    worker_thread_->sections.store(worker_thread_->sections.load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the monitor makes it a full barrier
    worker_ = worker_thread_->worker.load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] ~Section() {
    if (worker_thread_ == nullptr) return;
    // release: pairs with the monitor's acquire. Another worker thread may serve the worker right after.
    worker_thread_->sections.store(worker_thread_->sections.load(std::memory_order_relaxed) - 1,
                                   std::memory_order_release);
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  /// Null: the caller is no fiber, or its worker was given to another worker thread.
  Worker* worker() const { return worker_; }

 private:
  WorkerThread* const worker_thread_;
  Worker* worker_;
};

/// All workers. Fixed when they are made, and never destroyed: worker threads run until the process ends.
CLUMP_HOST_API extern constinit std::span<Worker> workers;

/// Calls `visit` for all fibers that have been made.
void for_each_fiber(const std::function<void(const Fiber&)>& visit);
/// Starts a kernel thread that belongs to no rank; false, with errno, if there cannot be another one.
CLUMP_HOST_API bool start_kernel_thread(void* (*body)(void*), void* argument);
/// Prepares a worker thread's kernel thread: the runtime's part (make_workers), and its core.
void prepare_worker_thread();
void bind_to_core(int core);

/// make_room() of switch.h, for callers where a function call does not matter.
void switch_out(Fiber& self);
/// Puts a fiber that waits into the queue of its home. Any thread.
CLUMP_HOST_API void make_runnable(Fiber& fiber);
/// Whether a worker has nothing to run. If it sleeps it is woken, and looks at the workers that are busy. Any
/// thread.
CLUMP_HOST_API bool wake_idle_worker() noexcept;
/// Whether `self`, which is going to wait, polls: nothing else can run, and it is not a stolen fiber, which
/// goes home to wait.
bool may_poll(const Fiber& self);
/// Polls for a short time, if may_poll(), for a `self` that waits for `done`. True if it is done.
template <typename Done>
bool poll_in_place(const Fiber& self, Done done);

/// Moves what has come in for a worker; true if there was anything.
bool take_in(int worker);
/// The same, and does parts of offered work.
bool progress(int worker);

/// Calls the function that before_sleep() has set.
bool may_sleep();

/// Tells the processor that this is a spin loop.
inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether other processes use these cores, too.
CLUMP_HOST_API extern constinit bool cores_are_shared;
/// Whether a waiting thread should give its core away soon, because others use it as well: processes, or
/// threads that ranks have made. Only if there are workers.
inline bool cores_are_wanted() noexcept {
  return cores_are_shared || awake_threads::wanted_cores() > static_cast<int>(workers.size());
}

/// Whether a polling thread offers its core now and then, because it cannot be known whether other threads
/// want it, and polls are no cheaper than offering.
CLUMP_HOST_API extern constinit bool cores_are_offered;
inline constexpr int kPollsPerOffer = 16;
/// Gives the core to others once. False: they compute, now or a moment ago, so that a thread that waits
/// should sleep. Linux (6.18) takes the rest of its time slice from a thread that yields: each time it gets
/// its core back after some milliseconds, and one that is woken gets it soon. Any thread.
bool offer_core() noexcept;
/// The same at any time, for loops that wait for a thread which may have lost its core. The kernel's
/// sched_yield, not the interposed one, which lets other fibers run.
inline void give_core_away() noexcept { ::syscall(SYS_sched_yield); }
/// Called between two polls that have found nothing; `poll` is the number of the first.
inline void pause_or_offer(int poll) {
  if (cores_are_offered && poll % kPollsPerOffer == kPollsPerOffer - 1)
    give_core_away();
  else
    pause_cpu();
}

// How often a waiting fiber polls before it gives its worker to the idle loop.
inline constexpr int kPollsInPlace = 1000;
inline constexpr int kPollsWhereShared = 8;
// How many polls of a waiting fiber or kernel thread have no pause.
inline constexpr int kEagerPolls = 200;
// One poll in so many also looks for offered work, which costs more than looking at a lane.
inline constexpr int kPollsPerHelp = 8;

inline bool may_poll(const Fiber& self) {
  const Worker* const home = self.worker_thread->worker.load(std::memory_order_relaxed);
  return home != nullptr && home->index == self.home && !home->has_runnable();
}

template <typename Done>
[[gnu::noinline]] bool poll_in_place(const Fiber& self, Done done) {
  if (exploration::is_on) return done();
  for (int poll = 0, most = cores_are_wanted() ? kPollsWhereShared : kPollsInPlace; poll < most; ++poll) {
    if (done()) return true;
    if (!may_poll(self)) return false;
    const bool moved = poll % kPollsPerHelp == 0 ? progress(self.home) : take_in(self.home);
    if (!moved && (poll > kEagerPolls || cores_are_offered)) pause_or_offer(poll);
  }
  return done();
}

}  // namespace clump::fiber
