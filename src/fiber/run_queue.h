// The fibers that can run at a worker: its queue, which its worker thread fills and any thread may take from,
// and its inbox, which any thread fills. First come, first served.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/mpsc_stack.h"
#include "fiber/fiber.h"

namespace clump::fiber {

/// A queue with one producer and many consumers. A fiber is in one queue at most. So with room for all fibers
/// the queue never overflows, and a slot is not written again while a consumer reads it.
class RunQueue {
 public:
  /// Makes room for so many fibers. `alone`: only the producer calls pop(). Before any use.
  void reserve(std::size_t fibers, bool alone) {
    alone_ = alone;
    const std::size_t slots = std::bit_ceil(fibers + 1);
    mask_ = slots - 1;
    slots_ = std::make_unique<std::atomic<Fiber*>[]>(slots);
  }

  /// Adds a fiber. The producer only.
  void push(Fiber& fiber) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    slots_[tail & mask_].store(&fiber, std::memory_order_relaxed);
    tail_.store(tail + 1, std::memory_order_release);  // release: pairs with the acquire in pop()
  }

  /// Takes the oldest fiber; null if there is none. Any thread.
  Fiber* pop() {
    std::uint64_t head = head_.load(std::memory_order_acquire);
    while (head != tail_.load(std::memory_order_acquire)) {  // acquire: pairs with the release in push()
      Fiber* const fiber = slots_[head & mask_].load(std::memory_order_relaxed);
      if (alone_) {  // saves a locked instruction in each message between ranks of the only worker
        head_.store(head + 1, std::memory_order_release);
        return fiber;
      }
      if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        return fiber;
    }
    return nullptr;
  }

  bool empty() const {
    return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_relaxed);
  }
  /// How many fibers are in the queue, approximately. Any thread.
  std::uint64_t size() const {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    return tail > head ? tail - head : 0;
  }

 private:
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> tail_{0};
  std::uint64_t mask_ = 0;
  bool alone_ = false;
  std::unique_ptr<std::atomic<Fiber*>[]> slots_;
};

/// Fibers that other threads have made runnable. Any thread pushes, with seq_cst: the push comes before the
/// check whether the worker sleeps (see WorkerThread::sleep). Any thread takes.
using Inbox = base::MpscStack<&Fiber::next>;

}  // namespace clump::fiber
