// For code that leaves messages at another worker: which worker the caller acts for, and whether the other
// worker will look. Inline, because each message needs it.
#pragma once

#include "fiber/worker.h"

namespace clump::fiber {

/// Holds a fiber's worker: while one of these lives, the calling fiber (or idle worker) is the only thread of
/// control that acts for that worker. Short sections only; waiting inside is not allowed.
class OwnWorker {
 public:
  OwnWorker() noexcept {
    const Fiber* const self = this_fiber();
    if (self == nullptr) return;
    worker_thread_ = self->worker_thread;
    worker_thread_->sections.store(worker_thread_->sections.load(std::memory_order_relaxed) + 1,
                                   std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // see Section
    const Worker* const worker = worker_thread_->worker.load(std::memory_order_relaxed);
    if (worker != nullptr && (worker->index == self->home || self == &worker_thread_->idle))
      worker_ = worker->index;
  }
  ~OwnWorker() {
    if (worker_thread_ == nullptr) return;
    // release: as in Section.
    worker_thread_->sections.store(worker_thread_->sections.load(std::memory_order_relaxed) - 1,
                                   std::memory_order_release);
  }
  OwnWorker(const OwnWorker&) = delete;
  OwnWorker& operator=(const OwnWorker&) = delete;
  /// False for stolen fibers, for fibers whose worker was given to another worker thread, and for kernel
  /// threads.
  explicit operator bool() const noexcept { return worker_ >= 0; }
  int worker() const noexcept { return worker_; }

 private:
  WorkerThread* worker_thread_ = nullptr;
  int worker_ = -1;
};

/// The home worker of the rank of which the caller is a kernel thread; -1: the caller is none.
inline int worker_beside() noexcept {
  const Identity* const mine = this_fiber() == nullptr ? identity() : nullptr;
  return mine != nullptr ? mine->home : -1;
}

/// Returns when all OwnWorkers that were true for this worker when the call began have ended. Not called by
/// fibers.
CLUMP_HOST_API void await_owners(int worker);

/// Whether a kernel thread that polls takes in what was left for `worker` before the call.
inline bool is_served(const Worker& worker) noexcept {
  if (worker.threads_polling.load(std::memory_order_relaxed) == 0) [[likely]]
    return false;
  // Pairs with the fence of a thread that ends its polls: it sees what was left, or this one sees that it has
  // gone.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return worker.threads_polling.load(std::memory_order_relaxed) > 0;
}
/// Called after something was left for `worker` where only its progress function sees it. True: the caller
/// has to take it in itself, because kernel threads of ranks there sleep, and none polls. False:
/// wake_worker() has to follow.
inline bool has_to_take_in(int worker) noexcept {
  const Worker& left_at = workers[static_cast<std::size_t>(worker)];
  return left_at.threads_asleep.load(std::memory_order_relaxed) != 0 && !is_served(left_at);
}
/// Called before work that may take longer than a wake-up (some microseconds): the calling thread, which may
/// be a kernel thread that polls in the place of its rank's worker, leaves what comes to the worker
/// meanwhile. Async-signal-safe.
CLUMP_HOST_API void begin_long_work() noexcept;
/// Wakes the worker, if it sleeps and no kernel thread polls in its place. For has_to_take_in() false.
inline void wake_worker(int worker) noexcept {
  Worker& left_at = workers[static_cast<std::size_t>(worker)];
  if (left_at.asleep->load(std::memory_order_seq_cst) == 0) return;  // seq_cst: as in Worker::wake()
  if (!is_served(left_at)) left_at.wake();
}

}  // namespace clump::fiber
