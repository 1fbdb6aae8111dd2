#include "fiber/processor_time.h"

#include <ctime>

#include "fiber/fiber.h"
#include "fiber/switch.h"
#include "fiber/worker.h"
#include "fiber/world_stop.h"

namespace clump::fiber {

namespace detail {

constinit std::atomic<bool> processor_time_is_kept{false};

namespace {

using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

/// Up to this length a turn is measured by the wall clock, as the kernel's clock of a thread takes a system
/// call. A turn in which the thread has lost its core, or has waited in the kernel, is longer.
constexpr nanoseconds kShortTurn{20'000};

constinit thread_local ProcessorTime own_time{0};

/// The turn that a worker thread is in. A variable of its kernel thread, common to all fibers there.
struct Turn {
  ProcessorTime* runs = nullptr;  ///< null: there was no turn yet
  Clock::time_point since;
  nanoseconds counted{};  ///< how much of the kernel thread's time was given to fibers
};
constinit thread_local Turn turn{};

/// The turn of a worker thread. The variables of this library lie at the same distance from every thread
/// pointer (world_stop.cc).
Turn& turn_of(const WorkerThread& worker_thread) {
  const auto distance =
      reinterpret_cast<std::intptr_t>(&turn) - reinterpret_cast<std::intptr_t>(__builtin_thread_pointer());
  return *reinterpret_cast<Turn*>(static_cast<std::byte*>(worker_thread.idle.context.thread_pointer) +
                                  distance);
}

void give_to(ProcessorTime& time, nanoseconds used) {
  // Written by one worker thread at a time.
  time.store(time.load(std::memory_order_relaxed) + used.count(), std::memory_order_relaxed);
}

/// Ends the present turn and begins that of `next`. In a section, so that no signal handler of the fiber runs
/// in between.
void go_on(WorkerThread& worker_thread, ProcessorTime& next) {
  Turn& now_on = turn_of(worker_thread);
  const Clock::time_point now = Clock::now();
  const nanoseconds passed = now - now_on.since;
  if (now_on.runs == nullptr) {
    now_on.counted = worker_thread.used();
  } else if (passed < kShortTurn) {
    give_to(*now_on.runs, passed);
    now_on.counted += passed;
  } else if (const nanoseconds used = worker_thread.used(); used > now_on.counted) {
    give_to(*now_on.runs, used - now_on.counted);
    now_on.counted = used;
  }
  now_on.runs = &next;
  now_on.since = now;
}

}  // namespace

void begin_turn() noexcept {
  const Section section;
  const Fiber* const self = fiber::this_fiber();
  if (self != nullptr && self->worker_thread != nullptr) go_on(*self->worker_thread, own_time);
}

void resume_in_turn() {
  stay_while_stopped();
  begin_turn();
}

}  // namespace detail

void keep_processor_time() noexcept {
  if (detail::processor_time_is_kept.exchange(true, std::memory_order_relaxed)) return;
  void (*none)() = nullptr;
  on_resume.compare_exchange_strong(none, detail::resume_in_turn, std::memory_order_release);
}

bool keeps_processor_time() noexcept {
  return detail::processor_time_is_kept.load(std::memory_order_relaxed);
}

const ProcessorTime& own_processor_time() noexcept { return detail::own_time; }

void count_processor_time() noexcept {
  if (keeps_processor_time() && rank_fiber() != nullptr) detail::begin_turn();
}

}  // namespace clump::fiber
