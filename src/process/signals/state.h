// What the files of signals.h share. For these files only.
//
// One lock guards all of it, which signal handlers take as well: see Guard.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <initializer_list>

#include "fiber/fiber.h"
#include "fiber/identity.h"
#include "fiber/kernel_state.h"
#include "fiber/processor_time.h"
#include "process/signals/signals.h"

namespace clump::image::signals {

inline constexpr int kSignals = 64;
/// The signals that interrupt a kernel thread that runs a rank, so that it handles the rank's signals there.
/// The first lets interrupted system calls go on, the second ends them with EINTR. Programs see a SIGRTMAX
/// below these.
inline constexpr int kRestart = 63, kInterrupt = 64;
inline constexpr int kHighest = 62;

/// Signals that no thread can block: the kernel's, the C library's (32, 33) and Clump's.
inline constexpr Set kNeverBlocked = set_of({SIGKILL, SIGSTOP, 32, 33, kRestart, kInterrupt});
inline constexpr Set kIgnoredByDefault = set_of({SIGCHLD, SIGURG, SIGWINCH, SIGCONT});
/// The signals of processor time; signals/itimer.cc.
inline constexpr Set kTicks = set_of({SIGPROF, SIGVTALRM});
inline constexpr Set kStops = set_of({SIGTSTP, SIGTTIN, SIGTTOU});

/// A rank's disposition of a signal.
struct Action {
  sighandler_t handler = SIG_DFL;  ///< or a function with three arguments (SA_SIGINFO)
  Set mask = 0;
  int flags = 0;

  bool handles() const { return handler != SIG_DFL && handler != SIG_IGN; }
  bool ignores(int number) const {
    return handler == SIG_IGN || (handler == SIG_DFL && (bit_of(number) & kIgnoredByDefault) != 0);
  }
};

struct SignalState;

/// A thread of control of a rank: its main thread, or one that it has made. It is in the thread's own memory,
/// so code that runs in the thread finds it on any kernel thread.
struct Thread {
  fiber::Identity* rank = nullptr;  ///< null: the thread is not in its rank's list
  Thread* next = nullptr;
  Thread* previous = nullptr;
  pthread_t handle{};
  pid_t number = 0;               ///< gettid()
  fiber::Fiber* fiber = nullptr;  ///< null: a kernel thread
  std::atomic<Set> blocked{0};
  std::atomic<Set> awaited{0};  ///< by sigwait() and related functions, during the call
  std::atomic<Set> pending{0};  ///< those sent to this thread itself; changed with the Guard
  /// Whether it is in a wait that signals end, and looks for them itself: then nothing else runs handlers
  /// there.
  std::atomic<bool> looks{false};
  /// How many NoHandlers the thread has. It is the only one that changes this.
  std::atomic<int> no_handlers{0};
  /// Not null: the rank has changed its directory, and the thread has to take the change over.
  /// thread_directory.h
  std::atomic<const SignalState*> directory{nullptr};
  const fiber::ProcessorTime* processor_time = nullptr;  ///< a fiber's
  std::uint64_t handled = 0;                             ///< how many handlers have begun
  std::uint64_t interrupted = 0;                         ///< of these, those that end system calls
  int in_handlers = 0;     ///< handlers that have not returned: also those that were left by siglongjmp()
  bool has_ended = false;  ///< end_thread() was called: what the thread still does is not in the list
  stack_t stack{nullptr, SS_DISABLE, 0};  ///< what a fiber has set with sigaltstack()
};
/// The calling thread's Thread; put into the list if the thread belongs to a rank.
Thread& mine();
/// The same without putting it into the list: for signal handlers.
Thread& mine_as_it_is();

/// One pending signal. A signal that is no real-time signal is pending at most once, as in the kernel.
struct Pending {
  int number = 0;        ///< 0: the place is free
  Thread* to = nullptr;  ///< null: any thread of the rank
  std::uint64_t order = 0;
  siginfo_t info{};
};
inline constexpr int kMostPending = 64;

/// ITIMER_VIRTUAL and ITIMER_PROF of a rank.
struct ProcessorTimer {
  std::chrono::microseconds left{};  ///< none: off
  std::chrono::microseconds interval{};
};
struct Timer;

/// What a rank has set, and the signals that it got. Made when the rank first needs it; never freed.
struct Table {
  fiber::Identity* rank = nullptr;
  Table* next = nullptr;  ///< the next rank's
  Action actions[kSignals + 1];
  std::atomic<Set> pending{0};  ///< those for any thread of the rank; changed with the Guard
  std::uint64_t orders = 0;
  Pending places[kMostPending];
  ProcessorTimer processor_timers[2];
  Timer* alarm = nullptr;  ///< ITIMER_REAL
  bool is_woken = false;   ///< whether its waits can be interrupted: RankCallbacks::park()
};

/// The signal state of a rank: beside its RankState (rank_state.cc).
struct SignalState {
  std::chrono::nanoseconds ended_threads{};  ///< the processor time of threads that have ended
  /// Nanoseconds for which threads that have ended had wanted a core. Each adds its own, if
  /// time_of_ended_threads() has been called.
  std::atomic<std::int64_t> ended_delay{0};
  Table* table = nullptr;
  Thread* threads = nullptr;                  ///< the main thread is the last one
  pid_t successor = 0;                        ///< the process that has taken the rank's place; 0: none
  std::atomic<bool> owns_descriptors{false};  ///< F_SETOWN: signals about descriptors are for the rank
  /// The directory and file mode mask that the rank has set since it has several threads; null: as when the
  /// process began.
  fiber::KernelState* directory = nullptr;
  bool has_directory = false;
  Set interrupting = 0;  ///< siginterrupt(): signals for which signal() sets a handler that ends system calls
};
SignalState& state_of(const fiber::Identity& rank);
/// The calling rank's table; made if there is none. Without the Guard.
Table& own_table();
/// The same for any rank, with the Guard.
Table& table_of(const fiber::Identity& rank);
Table* first_table() noexcept;

/// While one lives, no other thread has one, and no handler of the calling thread runs. Code inside must not
/// wait, and must not call a function that may take the Guard.
class Guard {
 public:
  // Signals interrupt the thread here, before and after; a handler may end the thread.
  Guard();
  ~Guard() noexcept(false);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Set before_ = 0;
};

/// Whether begin() was called, and this is not a child of the process.
bool is_on() noexcept;
const Runtime& runtime() noexcept;
/// How many ranks the process has had; 0 before begin().
int rank_count() noexcept;
bool has_ended(const fiber::Identity& rank) noexcept;

// Dispositions: signals/state.cc

/// The action of the rank for a signal. With the Guard.
Action action_of(const fiber::Identity& rank, int number);
/// Sets the kernel's action to what all ranks together need. With the Guard.
void update_kernel(int number);
/// Called for signals that a thread blocks now, or waits for: they must come to Clump's handler even if no
/// rank has a handler.
void claim(Set numbers);

// What is pending: signals/pending.cc. With the Guard.

/// What has happened to a signal.
enum class Fate : std::uint8_t {
  kDropped,  ///< the rank ignores it
  kLeft,     ///< it is pending
  kNoRoom,   ///< the most possible signals are pending
  kEnds,     ///< its default action ends the rank
  kStops,    ///< its default action stops the process
};
/// Leaves a signal for the rank, or for one of its threads. `outside`: it does not come from a rank of this
/// process.
Fate leave(const fiber::Identity& rank, Thread* to, const siginfo_t& info, bool outside);
/// Takes the lowest of `wanted` that is pending for the thread; 0 if there is none.
int take(Thread& thread, Set wanted, siginfo_t& info);
void forget(Table& table, int number);
/// If the signal of this timer is still pending, counts one more expiry for it. False: it is not pending.
bool count_overrun(const fiber::Identity& rank, const Thread* to, const siginfo_t& info);
/// Notes the signals that exec() by this thread leaves pending, the oldest first; returns how many there are.
/// Takes the Guard.
int pending_for_exec(const Thread& thread, siginfo_t (&into)[kMostPending]);
/// The signals that are pending for the thread, or for any thread of its rank. Also without the Guard.
Set pending_of(const Thread& thread);

// How signals get to ranks: signals/delivery.cc, signals/service.cc

/// Runs the handlers of signals that are pending for the calling thread and not blocked. `context`: as the
/// kernel has passed it to a handler; null: the caller's. True if a handler has run.
bool attend(Thread& self, void* context = nullptr);
/// Whether the calling thread, which may be anywhere, may run handlers now.
bool may_run_handlers(const Thread& self) noexcept;
/// Leaves a signal and makes a thread handle it: the calling thread, if it may. 0, or EAGAIN.
int direct(const fiber::Identity& rank, Thread* to, const siginfo_t& info);
/// The same from any thread, also in a handler. `here`: the calling thread may handle it.
int bring(const fiber::Identity& rank, Thread* to, const siginfo_t& info, bool here);
/// Brings a signal from outside of the process to the rank that has started its sender, or to all ranks.
void come_from_outside(const siginfo_t& info);
/// The same for `only`; null: for all ranks.
void come_from_outside(const siginfo_t& info, const fiber::Identity* only);
/// Sends a signal to the rank with this process id, in another process of this node or in the one that has
/// forked this one. False: there is no such rank there, or the kernel may send it. signals/between.cc.
bool forward(pid_t id, const siginfo_t& info) noexcept;
/// rt_sigqueueinfo(). signals/kill.cc.
int queue(pid_t process, int number, const siginfo_t* info);
/// Whether forward() has sent a signal.
bool is_forwarded(const siginfo_t& info) noexcept;
void come_from_rank(const siginfo_t& forwarded);
/// Handles a SIGCHLD: for the ranks whose children have changed. signals/children.cc.
void on_child(const siginfo_t& info);
/// The sender of a signal from outside.
struct Sender {
  const fiber::Identity* starter =
      nullptr;            ///< the rank that has started it, or one of its forebears; null: none
  bool is_early = false;  ///< a rank has started it, in a call that has not returned yet
};
Sender sender_of(const siginfo_t& info) noexcept;
/// Keeps a signal of such an early child: the service brings it when the call has returned. False if it
/// cannot be kept.
bool keep_early(const siginfo_t& info) noexcept;
/// Brings the signals that keep_early() has kept. By the service. Returns whether there are more.
bool bring_early();
/// The handlers that the kernel calls.
void on_signal(int number, siginfo_t* info, void* context);
void on_attention(int number, siginfo_t* info, void* context);
/// Calls `handler` on another stack: `stack` is its upper end.
extern "C" [[gnu::visibility("hidden")]] void clump_call_on_stack(int number, siginfo_t* info, void* context,
                                                                  void (*handler)(int, siginfo_t*, void*),
                                                                  void* stack);

/// Starts the service, if it is allowed and does not run: a kernel thread that interrupts and wakes ranks for
/// their signals, and gets the signals of timers.
void start_service();
/// Wakes the service, because there is something for it to do. Async-signal-safe.
void call_service() noexcept;
bool service_runs() noexcept;
/// The number of the service's kernel thread, once it runs; 0 before.
pid_t service_thread() noexcept;
/// Called by the service when a timer of a rank has expired: signals/timer.cc.
void on_timer(const siginfo_t& info);
/// Called when the signal of a rank's timer was taken.
void note_overrun(const siginfo_t& info) noexcept;
/// Counts a tick of the process's processor time, which the calling thread has used last, for the timers of
/// its rank. False: the signal is no tick. In the kernel's handler. signals/itimer.cc.
bool on_tick(Thread& self, const siginfo_t& info);
/// Leaves a signal for the calling thread, which handles it when the kernel's handler, from which this is
/// called, returns.
void come_to(Thread& self, const siginfo_t& info);

/// Sets what the calling thread blocks from now on, in the kernel too.
void set_blocked(Thread& self, Set blocked);
/// pthread_sigmask() of a rank.
int change_mask(int how, const sigset_t* set, sigset_t* before);
Set to_set(const sigset_t& set) noexcept;
sigset_t to_sigset(Set set) noexcept;

/// The processor time of all threads of the rank, including those that have ended.
std::chrono::nanoseconds processor_time_of(const fiber::Identity& rank);
/// The processor time of the calling thread.
std::chrono::nanoseconds processor_time_of_caller();

/// The siginfo_t of a signal that the calling process sends to itself.
siginfo_t make_info(int number, int code) noexcept;

}  // namespace clump::image::signals
