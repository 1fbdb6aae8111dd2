// Signals of a rank: disposition, blocked and pending signals, timers. Ranks of one process share the
// kernel's. So the kernel gets handlers of Clump's, and each rank has a table of what it has set.
// docs/decisions/028-signals-per-rank.md explains how signals get to a rank. For the runtime, and for the
// files of this layer that interpose functions.
//
// A plain process keeps the kernel's own signals: there begin() is not called, and all functions here do
// nothing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "fiber/identity.h"
#include "image/kernel_mask.h"

namespace clump::fiber {
struct Fiber;
}

namespace clump::image::signals {

/// What the runtime provides for this layer.
struct Runtime {
  /// How many ranks this process has had. More may join.
  int (*ranks)() noexcept = nullptr;
  /// The i-th rank of this process; null if it has ended.
  fiber::Identity* (*rank)(int i) noexcept = nullptr;
  /// The same rank, whether it has ended or not.
  fiber::Identity& (*any_rank)(int i) noexcept = nullptr;
  /// The kernel thread of the rank's main thread, which has given its stack to the fiber, and sleeps until
  /// the process ends.
  pid_t (*kernel_thread)(const fiber::Identity& rank) noexcept = nullptr;
  /// Whether this is the number of one of the job's processes on this node whose ranks have images.
  bool (*is_of_job)(pid_t process) noexcept = nullptr;
  /// The kernel's handler of faults; it calls take_fault() first.
  void (*on_fault)(int, siginfo_t*, void*) = nullptr;
  /// Called when the default action of a signal ends `rank`, and with it the job. `here`: the calling thread
  /// has caused the signal, and its stack shows why; from `context` on, or null.
  void (*end_rank)(const fiber::Identity& rank, int number, const siginfo_t& info, bool here,
                   const void* context) = nullptr;
  bool quit_asks = false;  ///< SIGQUIT from outside is a question of mpiexec, and does not end the process
};

/// From here on ranks have signals of their own. After capture(), before the program's constructors.
void begin(const Runtime& runtime);
/// From here on threads can be made; starts the service if the native rank's constructors have asked for
/// signals. Before the first rank's main().
void allow_threads();
/// Called by the main thread of a rank; if the thread becomes a fiber, after that.
void begin_main_thread();
/// Called by a thread of a rank when it begins. It blocks the signals that it has inherited.
void begin_thread();
/// Called by a thread when it ends.
void end_thread() noexcept;
/// Whether the calling thread may be in a handler, and so in the middle of any function.
bool may_be_in_handler() noexcept;
/// Called in the child of a fork(): sets in the kernel what the rank had. `blocked`: what the kernel blocked
/// for the calling thread before fork(). Async-signal-safe.
void become_process(Set blocked) noexcept;

struct Thread;
/// While one lives, no handler of the calling thread runs: the handlers of signals that come meanwhile run
/// when the last one ends. For locks that functions take which a handler may call. The thread must not be
/// switched from its kernel thread meanwhile. Costs two plain memory accesses where Clump runs the thread's
/// handlers.
class NoHandlers {
 public:
  NoHandlers() noexcept;
  ~NoHandlers() noexcept(false);  // a handler may call pthread_exit()
  NoHandlers(const NoHandlers&) = delete;
  NoHandlers& operator=(const NoHandlers&) = delete;

 private:
  Thread* self_;    ///< null: the kernel runs them, and blocks all signals
  Set before_ = 0;  ///< what the kernel blocked then
};
/// Runs the handlers of the calling thread that wait for the end of a NoHandlers, and while it lives those
/// that come. What the NoHandlers is for has to be in order at this point. A handler may leave by
/// siglongjmp().
class LetHandlers {
 public:
  LetHandlers();
  ~LetHandlers();
  LetHandlers(const LetHandlers&) = delete;
  LetHandlers& operator=(const LetHandlers&) = delete;

 private:
  Thread* self_;
  int kept_ = 0;
};

/// Called in a child that has its parent's memory, before it executes a program: makes the kernel ignore what
/// the rank ignores, unless the child has set another action. Elsewhere it does nothing. Async-signal-safe.
void ignore_for_exec() noexcept;

/// The signals that the calling rank ignores and the kernel does not. A program that the rank starts ignores
/// them.
Set ignored_by_rank() noexcept;

/// From now on signals for the calling rank from outside of the process go to `successor`, which runs in the
/// rank's place.
void pass_on_to(pid_t successor);

/// Handles a fault, or a signal that the C library's abort() has sent: runs the rank's handler. False if it
/// has none (or if the handler has returned to abort()): then the rank ends. `overflow`: the rank's stack is
/// used up. Called by the kernel's handler of faults.
bool take_fault(int number, siginfo_t* info, void* context, bool overflow);

/// Those threads of a rank that are kernel threads all the time, by their numbers (gettid()), as many as
/// there is room for; how many. Negative: this is a plain process, all threads of which may be the rank's.
/// Any thread of no rank.
int kernel_threads_of(const fiber::Identity& rank, std::span<pid_t> numbers) noexcept;

/// The time of the rank's threads that have ended: how long they had run (not in a plain process, whose clock
/// has it), and since the first call of this function for how long they had wanted a core and had none. Any
/// thread of no rank.
std::chrono::nanoseconds time_of_ended_threads(const fiber::Identity& rank) noexcept;

/// The fiber that is the rank's main thread; null: there is none. Any thread of no rank.
const fiber::Fiber* fiber_of(const fiber::Identity& rank) noexcept;

/// Whether a rank has a handler for one of these signals, also of a plain process. Any thread of no rank.
bool any_handler(Set which) noexcept;

/// Whether the caller is a thread of a rank whose signals are kept here.
bool is_ours() noexcept;
/// sigaction() of a rank: 0, or an error number.
int set_action(int number, const struct sigaction* wanted, struct sigaction* before);

/// sigaction() of the kernel, not of a rank. The results are those of the C library.
int kernel_action(int number, const struct sigaction* wanted, struct sigaction* before) noexcept;

}  // namespace clump::image::signals
