// The signal service: a kernel thread of this process that makes ranks handle their signals. A rank that
// computes is interrupted, one that waits is woken. A rank may be about to change from the one to the other,
// so the service looks again until there is nothing left to handle.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "base/process.h"
#include "base/thread_name.h"
#include "fiber/interrupt.h"
#include "fiber/worker.h"
#include "process/signals/state.h"

namespace clump::image::signals {
namespace {

constexpr timespec kLookAgain{0, 1'000'000};
constexpr int kMostCalls = 256;

constinit std::atomic<std::uint32_t> news{0};  // futex
constinit std::atomic<pid_t> service{0};
constinit std::atomic<bool> allowed{false}, wanted{false}, started{false};
/// The cores of the process: a thread that a fiber makes would have only the fiber's core.
constinit cpu_set_t cores{};

/// What the service does for threads that have signals to handle.
struct Calls {
  fiber::Fiber* sleeping[kMostCalls];  ///< woken without the Guard
  int sleeping_count = 0;
  bool any = false;

  /// Calls a thread that has these signals to handle. With the Guard, which the thread needs to take them: so
  /// it has the interruption before it goes on. One that came later would end the program's next call, with
  /// no handler run.
  void call(const Table& table, const Thread& thread, Set signals) {
    any = true;
    // A call is not begun anew where its caller runs the handlers (NoHandlers).
    bool restart = thread.awaited.load(std::memory_order_relaxed) == 0 &&
                   thread.no_handlers.load(std::memory_order_relaxed) == 0;
    for (Set left = signals; left != 0; left &= left - 1)
      restart &= (table.actions[__builtin_ctzll(left) + 1].flags & SA_RESTART) != 0;
    const int signal = restart ? kRestart : kInterrupt;
    if (thread.fiber == nullptr)
      ::syscall(SYS_tgkill, base::process_id(), thread.number, signal);
    else if ((thread.looks.load(std::memory_order_relaxed) || !fiber::interrupt(*thread.fiber, signal)) &&
             sleeping_count < kMostCalls)
      sleeping[sleeping_count++] = thread.fiber;
  }

  /// Calls threads for the signals that are pending for a rank. A thread that waits for a signal gets it
  /// first, then the main thread, then any other. With the Guard.
  void call(const Table& table) {
    Set left = table.pending.load(std::memory_order_relaxed);
    const Thread* last = nullptr;
    for (const Thread* thread = state_of(*table.rank).threads; thread != nullptr; thread = thread->next) {
      last = thread;
      const Set awaited = thread->awaited.load(std::memory_order_relaxed);
      const Set open = awaited | ~thread->blocked.load(std::memory_order_relaxed);
      const Set here = (thread->pending.load(std::memory_order_relaxed) & open) | (left & awaited);
      if (here != 0) call(table, *thread, here);
      left &= ~here;
    }
    for (const Thread* thread = last; thread != nullptr && left != 0; thread = thread->previous) {
      const Set here = left & ~thread->blocked.load(std::memory_order_relaxed);
      if (here != 0) call(table, *thread, here);
      left &= ~here;
    }
  }
};

/// Makes all threads with signals handle them; whether there were any.
bool call_all() {
  static Calls calls;  // used by the service only
  calls.sleeping_count = 0;
  calls.any = false;
  {
    const Guard guard;
    for (const Table* table = first_table(); table != nullptr; table = table->next) calls.call(*table);
  }
  for (int i = 0; i < calls.sleeping_count; ++i) fiber::wake_to_attend(*calls.sleeping[i]);
  return calls.any;
}

void* serve(void*) {
  base::name_own_thread("signals");
  ::syscall(SYS_sched_setaffinity, 0, sizeof cores, &cores);
  // The service blocks no signal: what is sent to the process comes here, whatever ranks block.
  constexpr Set kNone = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kNone, nullptr, sizeof kNone);
  service.store(static_cast<pid_t>(::syscall(SYS_gettid)), std::memory_order_release);
  for (;;) {
    const std::uint32_t seen = news.load(std::memory_order_acquire);
    const bool early = bring_early();
    const bool again = call_all() || early;
    ::syscall(SYS_futex, &news, FUTEX_WAIT_PRIVATE, seen, again ? &kLookAgain : nullptr, nullptr, 0);
  }
}

}  // namespace

void start_service() {
  if (!allowed.load(std::memory_order_acquire)) return wanted.store(true, std::memory_order_relaxed);
  if (started.exchange(true, std::memory_order_relaxed)) return;
  if (!fiber::start_kernel_thread(serve, nullptr)) started.store(false, std::memory_order_relaxed);
}

void allow_threads() {
  ::syscall(SYS_sched_getaffinity, 0, sizeof cores, &cores);
  allowed.store(true, std::memory_order_release);
  if (wanted.load(std::memory_order_relaxed)) start_service();
}

void call_service() noexcept {
  news.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &news, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool service_runs() noexcept { return service.load(std::memory_order_relaxed) != 0; }

pid_t service_thread() noexcept {
  if (!started.load(std::memory_order_relaxed)) return 0;
  while (service.load(std::memory_order_acquire) == 0) ::syscall(SYS_sched_yield);
  return service.load(std::memory_order_acquire);
}

}  // namespace clump::image::signals
