#include "fiber/awake_threads.h"

#include <atomic>

namespace clump::fiber {

namespace {

constinit std::atomic<int> alive{0};
constinit std::atomic<void (*)()> report_deadlock{nullptr};
constinit std::atomic<std::atomic<std::uint64_t>*> wakes{nullptr};
constinit std::atomic<int> services{0};

}  // namespace

constinit std::atomic<int> awake_threads::awake{0};
constinit std::atomic<int> awake_threads::resting{0};

void thread_begins() noexcept {
  alive.fetch_add(1, std::memory_order_acq_rel);
  awake_threads::awake.fetch_add(1, std::memory_order_acq_rel);
}

void thread_ends() noexcept {
  alive.fetch_sub(1, std::memory_order_acq_rel);
  awake_threads::falls_asleep();
}

void on_deadlock(void (*report)()) { report_deadlock.store(report, std::memory_order_release); }

void count_wakes_in(std::atomic<std::uint64_t>& counter) { wakes.store(&counter, std::memory_order_release); }
int service_threads() noexcept { return services.load(std::memory_order_relaxed); }
int threads_awake() noexcept { return awake_threads::awake.load(std::memory_order_seq_cst); }

namespace awake_threads {

void note_wake() noexcept {
  // release: a thread that sees what this thread does from here on sees the count of wakes, too.
  if (auto* const counter = wakes.load(std::memory_order_relaxed))
    counter->fetch_add(1, std::memory_order_acq_rel);
}
void service_thread_begins() noexcept { services.fetch_add(1, std::memory_order_relaxed); }
void service_thread_ends() noexcept { services.fetch_sub(1, std::memory_order_relaxed); }

void one_awake() noexcept { awake.fetch_add(1, std::memory_order_acq_rel); }
void not_needed() noexcept { awake.fetch_sub(1, std::memory_order_acq_rel); }

void falls_asleep() {
  // acq_rel: the thread that takes the last one away sees all that the others did before they went to sleep.
  if (awake.fetch_sub(1, std::memory_order_acq_rel) != 1 || alive.load(std::memory_order_acquire) == 0)
    return;
  if (void (*const report)() = report_deadlock.load(std::memory_order_acquire)) report();
}

void becomes_fiber() { falls_asleep(); }
void fiber_ends() noexcept { alive.fetch_sub(1, std::memory_order_acq_rel); }

}  // namespace awake_threads
}  // namespace clump::fiber
