// Workers and their kernel threads. fiber.h explains the model; other layers use own_worker.h.
//
//   Worker (a core, a run queue)  --worker_thread-->  WorkerThread (a kernel thread)  --current-->  Fiber (a
//   rank)
//
// A worker has one worker thread at a time. If a fiber keeps it busy for too long while others wait, the
// monitor gives the worker to another worker thread; the old one runs its fiber to the next wait and becomes
// a spare.
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

/// A kernel thread that runs fibers, for the worker that it serves. One that serves none, because its fiber
/// was busy for too long, runs this fiber to its next wait and becomes a spare.
class WorkerThread {
 public:
  explicit WorkerThread(Worker* serves);

  /// Its kernel thread begins; false if there cannot be another one. With a worker, it is counted as awake.
  bool start();
  /// Gives a spare one a worker.
  void serve(Worker& worker);
  /// Time of a core that its kernel thread has used so far.
  std::chrono::nanoseconds used() const;

  std::atomic<Worker*> worker;  ///< null: spare, or soon to be
  /// Depth of sections (see Section). Written by this worker thread's kernel thread only; the monitor reads
  /// it.
  std::atomic<int> sections{0};
  std::atomic<Fiber*> current;  ///< which fiber runs, or `idle`
  /// Its worker was taken away, and it is not yet a spare. The monitor sets it.
  std::atomic<bool> is_stuck{false};
  bool keeps_time = false;  ///< its idle loop wakes fibers that sleep; the monitor may not know of them
  Fiber* next = nullptr;    ///< what the idle loop shall run first
  Fiber idle;               ///< the kernel thread's own context: looks for work
  /// Returns when the sections have ended that were there before the last barrier_everywhere().
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
  void hand_time_over();
  Fiber* steal(Worker& mine);
  Fiber* rob(Worker& mine, Worker& victim);
  static void* begin(void* worker_thread);

  std::atomic<std::uint32_t> has_worker_{0};  // futex
  clockid_t clock_{};                         // of its kernel thread, from its begin on
  int idle_polls_ = 0;
  int idle_sleeps_ = 0;  // in a row
  // The worker that is looked at as a victim: it is robbed if it goes on being busy with one fiber.
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
  std::atomic<std::uint64_t> switches{0};  ///< by its worker thread: a worker that does not count on is busy
  std::uint64_t switches_to_look;          ///< at every such number of them: a power of two, less one
  base::Counter taken;                     ///< from other workers, by its worker thread
  std::atomic<WorkerThread*> worker_thread{nullptr};
  /// futex; 1: its worker thread sleeps. A word of its own, or, where there are other processes, of its bell.
  std::atomic<std::uint32_t>* asleep = &own_asleep;
  alignas(64) Inbox inbox;
  alignas(64) std::atomic<std::uint32_t> own_asleep{0};
  /// Kernel threads that sleep, of ranks whose messages come here. The worker thread may be busy with one of
  /// these ranks' fibers, outside MPI: as long as there are some, the sender of a message takes it in itself.
  std::atomic<int> threads_asleep{0};

  bool has_runnable() const { return !queue.empty() || !inbox.empty(); }
  /// What is in the inbox goes into the queue. Its worker thread, in a section.
  void empty_inbox();
  /// Wakes the worker thread if it sleeps. Any thread.
  void wake() noexcept {
    if (asleep->load(std::memory_order_seq_cst) != 0) [[unlikely]]  // seq_cst: see WorkerThread::sleep
      wake_up();
  }

 private:
  CLUMP_HOST_API void wake_up() noexcept;
};

/// While one of these lives, the calling kernel thread is the only one that acts for its worker: the monitor
/// waits. Entering costs two plain memory accesses, because the monitor pays for the barrier (membarrier).
class Section {
 public:
  [[gnu::always_inline]] Section() noexcept
      : worker_thread_(this_fiber() != nullptr ? this_fiber()->worker_thread : nullptr), worker_(nullptr) {
    if (worker_thread_ == nullptr) return;
    worker_thread_->sections.store(worker_thread_->sections.load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the monitor makes a full barrier of it
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

/// All workers; fixed once they are made, and never gone: worker threads run until the process is.
CLUMP_HOST_API extern constinit std::span<Worker> workers;

/// Calls `visit` for all that there have been.
void for_each_fiber(const std::function<void(const Fiber&)>& visit);
/// A kernel thread that belongs to no rank; false, with an error in errno, if there cannot be another one.
CLUMP_HOST_API bool start_kernel_thread(void* (*body)(void*), void* argument);
/// A worker thread's kernel thread gets ready: the runtime's part (make_workers), and its core.
void prepare_worker_thread();
void bind_to_core(int core);

/// make_room() of switch.h, where a call does not matter.
void switch_out(Fiber& self);
/// Puts a fiber that waits into the queue of its home. Any thread.
CLUMP_HOST_API void make_runnable(Fiber& fiber);
/// Whether a worker has nothing to run; if it sleeps it is woken, and looks after those that are busy. Any
/// thread.
CLUMP_HOST_API bool wake_idle_worker() noexcept;
/// Whether `self`, which is to wait, polls: nothing else can run, and it is no stolen fiber, who goes home to
/// wait.
bool may_poll(const Fiber& self);
/// For `self` that is to wait for `done`: polls while it may, for a short time. True if it is done.
template <typename Done>
bool poll_in_place(const Fiber& self, Done done);

/// Moves what has come in for a worker; true if there was anything.
bool take_in(int worker);
/// The same, and does parts of offered work.
bool progress(int worker);

/// Asks what before_sleep() has set.
bool may_sleep();

/// The processor's hint that this is a spin loop.
inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Whether other processes have our cores.
CLUMP_HOST_API extern constinit bool cores_are_shared;
/// Whether a waiting thread had better give its core away soon: others have it as well, processes or threads
/// that ranks have made. Only where there are workers.
inline bool cores_are_wanted() noexcept {
  return cores_are_shared || awake_threads::wanted_cores() > static_cast<int>(workers.size());
}

/// Whether a polling thread offers its core now and then: whether others want it cannot be known, and polls
/// are no cheaper than asking.
CLUMP_HOST_API extern constinit bool cores_are_offered;
inline constexpr int kPollsPerOffer = 16;
/// Between the poll-th poll, which has found nothing, and the next one.
inline void pause_or_offer(int poll) {
  if (cores_are_offered && poll % kPollsPerOffer == kPollsPerOffer - 1)
    ::syscall(SYS_sched_yield);
  else
    pause_cpu();
}

// Polls of a fiber that waits before it gives its worker to the idle loop, and those without a pause.
inline constexpr int kPollsInPlace = 1000;
inline constexpr int kPollsWhereShared = 8;
inline constexpr int kEagerPolls = 200;
// One poll in so many looks for offered work as well, which costs more than to look at a lane.
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
