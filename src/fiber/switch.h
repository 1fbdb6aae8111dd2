// How a fiber makes room for the next one. Inline for waits for messages, as it is a good part of
// what a message between two ranks of a worker costs. Others call switch_out().
//
// The usual way calls nothing but the switch, and nothing of what it has found out is needed afterwards, so
// that there are hardly any registers to be saved beside those that the switch itself saves.
#pragma once

#include <atomic>

#include "fiber/context.h"
#include "fiber/kernel_state.h"
#include "fiber/worker.h"

namespace clump::fiber {

/// A worker whose fibers keep each other busy looks at what comes in once in so many switches.
inline constexpr std::uint64_t kSwitchesPerPoll = 16;

/// What each fiber that is resumed calls first; null as long as there is no WorldStop (world_stop.h).
extern constinit std::atomic<void (*)()> on_resume;

/// The first thing that a resumed fiber does: what could not be done before its predecessor was out of the
/// way.
[[gnu::always_inline]] inline void arrive(Fiber& self, Context* left) {
  // release: the thread that resumes it sees its stack as it left it.
  reinterpret_cast<Fiber*>(left)->in_use.store(0, std::memory_order_release);
  self.worker_thread->sections.store(0,
                                     std::memory_order_release);  // release: pairs with the monitor's acquire
}

/// `next`, which no thread uses, runs in place of `self`, on the same kernel thread. Inside a section of its
/// worker thread. Returns when `self` is resumed, perhaps by another worker thread.
[[gnu::always_inline]] inline void switch_to(Fiber& self, Fiber& next) {
  WorkerThread& worker_thread = *self.worker_thread;
  next.in_use.store(1, std::memory_order_relaxed);
  next.worker_thread = &worker_thread;
  worker_thread.current.store(&next, std::memory_order_relaxed);
  // A worker thread that looks for work does not mind what the last fiber has set.
  if (next.kernel_state != worker_thread.kernel_state && &next != &worker_thread.idle) [[unlikely]]
    take_on(worker_thread.kernel_state, next.kernel_state);
  arrive(self, clump_switch_context(&self.context, &next.context));
}

/// The second half of make_room(): in a section of its worker thread, which the next fiber leaves when it has
/// arrived. If `next` is null there is none.
[[gnu::always_inline]] inline void go_to(Fiber& self, Fiber* next) {
  WorkerThread& worker_thread = *self.worker_thread;
  if (next == nullptr) next = &worker_thread.idle;
  if (next != &self && !next->left_behind()) [[unlikely]] {
    // It is on its way out of another worker thread, where they may be waiting for us to be on our way. So go
    // first.
    worker_thread.next = next;
    next = &worker_thread.idle;
  }
  if (next != &self) [[likely]]
    switch_to(self, *next);
  else
    worker_thread.sections.store(0, std::memory_order_release);
  if (void (*const call)() = on_resume.load(std::memory_order_relaxed)) [[unlikely]]
    call();
}

/// The same after a look at what has come in.
void look_and_go(Fiber& self, Worker& worker);

/// The calling fiber waits: runs others until somebody calls make_runnable() for it. Whoever does may do so
/// before this is called.
[[gnu::always_inline]] inline void make_room(Fiber& self) {
  WorkerThread& worker_thread = *self.worker_thread;
  worker_thread.sections.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Worker* const worker = worker_thread.worker.load(std::memory_order_relaxed);
  if (worker != nullptr) [[likely]] {
    const std::uint64_t count = worker->switches.load(std::memory_order_relaxed) + 1;
    worker->switches.store(count, std::memory_order_relaxed);
    // The inbox every time: fibers that poll and yield would keep the queue from ever being empty.
    if ((count & worker->switches_to_look) == 0 || !worker->inbox.empty()) [[unlikely]]
      return look_and_go(self, *worker);
  }
  go_to(self, worker != nullptr ? worker->queue.pop() : nullptr);
}

/// The calling fiber sleeps until a time that the monitor has noted but was not told of: the idle loop keeps
/// it, or tells.
inline void make_room_for_idle(Fiber& self) {
  WorkerThread& worker_thread = *self.worker_thread;
  worker_thread.sections.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  worker_thread.keeps_time = true;
  if (Worker* const worker = worker_thread.worker.load(std::memory_order_relaxed))
    worker->switches.store(worker->switches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  go_to(self, nullptr);
}

}  // namespace clump::fiber
