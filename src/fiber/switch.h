// How a fiber makes room for the next one. Inline for waits for messages, as it is a large part of what a
// message between two ranks of a worker costs. Other callers use switch_out().
//
// The usual path calls only the switch itself, and needs nothing afterwards of what it has found out before.
// So hardly any registers are saved besides those that the switch saves.
#pragma once

#include <atomic>

#include "fiber/context.h"
#include "fiber/kernel_state.h"
#include "fiber/worker.h"

namespace clump::fiber {

/// A worker whose fibers keep each other busy looks at what comes in once in so many switches.
inline constexpr std::uint64_t kSwitchesPerPoll = 16;

/// The function that each resumed fiber calls first; null while there is no WorldStop (world_stop.h).
extern constinit std::atomic<void (*)()> on_resume;

/// The first thing that a resumed fiber does: it finishes what could not be done while its predecessor was on
/// its stack.
[[gnu::always_inline]] inline void arrive(Fiber& self, Context* left) {
  // release: the thread that resumes the predecessor sees its stack as it was left.
  reinterpret_cast<Fiber*>(left)->in_use.store(0, std::memory_order_release);
  self.worker_thread->sections.store(0,
                                     std::memory_order_release);  // release: pairs with the monitor's acquire
}

/// Runs `next`, which no thread runs, in place of `self`, on the same kernel thread. Inside a section of its
/// worker thread. Returns when `self` is resumed, perhaps by another worker thread.
[[gnu::always_inline]] inline void switch_to(Fiber& self, Fiber& next) {
  WorkerThread& worker_thread = *self.worker_thread;
  next.in_use.store(1, std::memory_order_relaxed);
  next.worker_thread = &worker_thread;
  worker_thread.current.store(&next, std::memory_order_relaxed);
  // A worker thread that looks for work keeps what the last fiber has set: it does not matter there.
  if (next.kernel_state != worker_thread.kernel_state && &next != &worker_thread.idle) [[unlikely]]
    take_on(worker_thread.kernel_state, next.kernel_state);
  arrive(self, clump_switch_context(&self.context, &next.context));
}

/// The second half of make_room(): runs `next`, or the idle loop if it is null. In a section of its worker
/// thread, which the next fiber leaves when it has arrived.
[[gnu::always_inline]] inline void go_to(Fiber& self, Fiber* next) {
  WorkerThread& worker_thread = *self.worker_thread;
  if (next == nullptr) next = &worker_thread.idle;
  if (next != &self && !next->left_behind()) [[unlikely]] {
    // `next` has not left its stack yet: it is on its way out of another worker thread, which may be waiting
    // for this fiber to leave its stack. So this fiber leaves first.
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

/// The calling fiber waits: runs others until a thread calls make_runnable() for it, which may happen before
/// this is called.
[[gnu::always_inline]] inline void make_room(Fiber& self) {
  WorkerThread& worker_thread = *self.worker_thread;
  worker_thread.sections.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Worker* const worker = worker_thread.worker.load(std::memory_order_relaxed);
  if (worker != nullptr) [[likely]] {
    const std::uint64_t count = worker->switches.load(std::memory_order_relaxed) + 1;
    worker->switches.store(count, std::memory_order_relaxed);
    // The inbox is checked every time: fibers that poll and yield would keep the queue from ever being empty.
    if ((count & worker->switches_to_look) == 0 || !worker->inbox.empty()) [[unlikely]]
      return look_and_go(self, *worker);
  }
  go_to(self, worker != nullptr ? worker->queue.pop() : nullptr);
}

/// The calling fiber sleeps until a time that is noted (monitor::add_sleeper) without the monitor being woken
/// for it: the idle loop keeps the time, or hands it to the monitor.
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
