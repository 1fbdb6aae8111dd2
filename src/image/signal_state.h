// What the files of signals.h share. Not for others.
//
// All of it is guarded by one lock, which signal handlers take as well: see Guard.
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
#include "image/signals.h"

namespace clump::image::signals {

inline constexpr int kSignals = 64;
/// What interrupts a kernel thread that runs a rank, so that it attends to the rank's signals there. The one
/// lets interrupted system calls go on, the other ends them with EINTR. Programs see a SIGRTMAX below.
inline constexpr int kRestart = 63, kInterrupt = 64;
inline constexpr int kHighest = 62;

constexpr Set set_of(std::initializer_list<int> numbers) {
  Set set = 0;
  for (const int number : numbers) set |= bit_of(number);
  return set;
}
/// Those that an instruction causes. The kernel must not block them, or a fault would end the process with
/// no report.
inline constexpr Set kFaults = set_of({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP});
/// Nobody can block these: the kernel's, the C library's (32, 33) and ours.
inline constexpr Set kNeverBlocked = set_of({SIGKILL, SIGSTOP, 32, 33, kRestart, kInterrupt});
inline constexpr Set kIgnoredByDefault = set_of({SIGCHLD, SIGURG, SIGWINCH, SIGCONT});
/// Of processor time; libc_itimer.cc.
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

/// A thread of control of a rank: its main thread, or one that it has made. In the thread's own memory, so
/// code that runs in the thread finds it, whichever kernel thread that is on.
struct Thread {
  fiber::Identity* rank = nullptr;  ///< null: not enlisted
  Thread* next = nullptr;
  Thread* previous = nullptr;
  pthread_t handle{};
  pid_t number = 0;               ///< gettid()
  fiber::Fiber* fiber = nullptr;  ///< null: a kernel thread
  std::atomic<Set> blocked{0};
  std::atomic<Set> awaited{0};  ///< by sigwait() and its kin, while in there
  std::atomic<Set> pending{0};  ///< directed to this thread; changed with the Guard
  /// It is in a wait that signals end, and looks for them itself: no handler runs there from outside.
  std::atomic<bool> looks{false};
  /// Not null: the rank has changed its directory, and the thread is to take it over. thread_directory.h
  std::atomic<const SignalState*> directory{nullptr};
  const fiber::ProcessorTime* processor_time = nullptr;  ///< a fiber's
  std::uint64_t handled = 0;                             ///< handlers that have begun
  stack_t stack{nullptr, SS_DISABLE, 0};                 ///< a fiber's sigaltstack()
};
/// The calling thread's; enlisted if it belongs to a rank.
Thread& mine();
/// The same, and not enlisted: for signal handlers.
Thread& mine_as_it_is();

/// One pending signal. Those that are not real-time signals are pending once, as in the kernel.
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

/// What a rank has set or got. Made when it first needs one; never freed.
struct Table {
  fiber::Identity* rank = nullptr;
  Table* next = nullptr;  ///< of another rank
  Action actions[kSignals + 1];
  std::atomic<Set> pending{0};  ///< for any thread of the rank; changed with the Guard
  std::uint64_t orders = 0;
  Pending places[kMostPending];
  ProcessorTimer processor_timers[2];
  Timer* alarm = nullptr;  ///< ITIMER_REAL
  bool is_woken = false;   ///< its waits can be interrupted: RankCallbacks::park()
};

/// In a rank's LibcState.
struct SignalState {
  std::chrono::nanoseconds ended_threads{};  ///< the processor time that they have used
  Table* table = nullptr;
  Thread* threads = nullptr;                  ///< the main thread is the last
  pid_t successor = 0;                        ///< another process has the rank's place; 0: none
  std::atomic<bool> owns_descriptors{false};  ///< F_SETOWN: their signals are for the rank
  /// Directory and file mode mask that the rank has set since it has threads; null: as the process began.
  fiber::KernelState* directory = nullptr;
  bool has_directory = false;
  Set interrupting = 0;  ///< siginterrupt(): what signal() sets does not let system calls go on
};
SignalState& state_of(const fiber::Identity& rank);
/// The calling rank's, made if there is none. Without the Guard.
Table& own_table();
/// The same of any rank, with the Guard.
Table& table_of(const fiber::Identity& rank);
Table* first_table() noexcept;

/// Keeps all others out, and the calling thread's own handlers. No waiting inside, and no call of a function
/// that may take the Guard.
class Guard {
 public:
  Guard() noexcept;
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Set before_ = 0;
};

/// Whether begin() was called, and this is no child of the process.
bool is_on() noexcept;
const Runtime& runtime() noexcept;
bool has_ended(const fiber::Identity& rank) noexcept;

// Dispositions: signal_state.cc

/// What the rank does with a signal. With the Guard.
Action action_of(const fiber::Identity& rank, int number);
/// Puts into the kernel what all ranks together need. With the Guard.
void update_kernel(int number);
/// Threads block these now, or wait for them: they must come to us even where no rank has a handler.
void claim(Set numbers);

// What is pending: signal_pending.cc. With the Guard.

/// What becomes of a signal.
enum class Fate : std::uint8_t {
  kDropped,  ///< the rank ignores it
  kLeft,     ///< it is pending
  kNoRoom,   ///< as many are pending as there is room for
  kEnds,     ///< its default action ends the rank
  kStops,    ///< its default action stops the process
};
/// Leaves a signal for the rank, or for one of its threads. `outside`: it is not from a rank of this process.
Fate leave(const fiber::Identity& rank, Thread* to, const siginfo_t& info, bool outside);
/// Takes the lowest of `wanted` that is pending for the thread; 0 if there is none.
int take(Thread& thread, Set wanted, siginfo_t& info);
void forget(Table& table, int number);
/// If the signal of this timer is pending still, it tells of one more expiry. False: it is not.
bool count_overrun(const fiber::Identity& rank, const Thread* to, const siginfo_t& info);
/// Pending for the thread, or for any of its rank. Also without the Guard.
Set pending_of(const Thread& thread);

// How signals come to ranks: signal_delivery.cc, signal_service.cc

/// Runs the handlers of what is pending for the calling thread and not blocked. `context`: as the kernel gave
/// it to a handler; null: the caller's. True if a handler has run.
bool attend(Thread& self, void* context = nullptr);
/// Leaves a signal and sees to it that it is attended to, here if the calling thread may be the one. 0, or
/// EAGAIN.
int direct(const fiber::Identity& rank, Thread* to, const siginfo_t& info);
/// The same of any thread, also in a handler. `here`: the calling thread may be the one.
int bring(const fiber::Identity& rank, Thread* to, const siginfo_t& info, bool here);
/// A signal from outside of the process: for the rank that has started its sender, or for all ranks.
void come_from_outside(const siginfo_t& info);
/// The same for `only`; null: for all ranks.
void come_from_outside(const siginfo_t& info, const fiber::Identity* only);
/// Sends a signal to the rank with this process id, in another process of this node or in the one that has
/// forked this one; false if it is none such, or the kernel may do it. signal_between.cc.
bool forward(pid_t id, const siginfo_t& info) noexcept;
/// rt_sigqueueinfo(). libc_kill.cc.
int queue(pid_t process, int number, const siginfo_t* info);
/// What has been sent so.
bool is_forwarded(const siginfo_t& info) noexcept;
void come_from_rank(const siginfo_t& forwarded);
/// A SIGCHLD: for the ranks whose children have changed. signal_children.cc.
void on_child(const siginfo_t& info);
/// What has sent a signal from outside.
struct Sender {
  const fiber::Identity* starter =
      nullptr;            ///< the rank that has started it, or one of its forebears; null: none
  bool is_early = false;  ///< some rank has, in a call that has not returned yet
};
Sender sender_of(const siginfo_t& info) noexcept;
/// A signal of such an early child: the service brings it when the call has returned. False if it cannot.
bool keep_early(const siginfo_t& info) noexcept;
/// By the service. Whether there are more.
bool bring_early();
/// The kernel's handlers.
void on_signal(int number, siginfo_t* info, void* context);
void on_attention(int number, siginfo_t* info, void* context);
/// Calls `handler` on another stack: `stack` is its upper end.
extern "C" [[gnu::visibility("hidden")]] void clump_call_on_stack(int number, siginfo_t* info, void* context,
                                                                  void (*handler)(int, siginfo_t*, void*),
                                                                  void* stack);

/// A kernel thread that interrupts and wakes ranks for their signals, and gets those of timers. Starts it, if
/// it is allowed and does not run.
void start_service();
/// There is something for it to do. Async-signal-safe.
void call_service() noexcept;
bool service_runs() noexcept;
/// Its number, once it runs; 0 before.
pid_t service_thread() noexcept;
/// A timer of a rank has expired: libc_timer.cc. By the service.
void on_timer(const siginfo_t& info);
/// The signal of a rank's timer was taken.
void note_overrun(const siginfo_t& info) noexcept;
/// The process has used so much processor time, in the calling thread last: whether that is for the timers of
/// ranks, which count theirs. In the kernel's handler. libc_itimer.cc.
bool on_tick(Thread& self, const siginfo_t& info);
/// A signal for the calling thread, which it attends to when the kernel's handler, from which this is called,
/// returns.
void come_to(Thread& self, const siginfo_t& info);

/// What the calling thread blocks from now on, in the kernel too.
void set_blocked(Thread& self, Set blocked);
/// pthread_sigmask() of a rank.
int change_mask(int how, const sigset_t* set, sigset_t* before);
Set to_set(const sigset_t& set) noexcept;
sigset_t to_sigset(Set set) noexcept;

/// The processor time of all threads of the rank, those included that have ended.
std::chrono::nanoseconds processor_time_of(const fiber::Identity& rank);
/// Of the calling thread.
std::chrono::nanoseconds processor_time_of_caller();

/// siginfo_t of a signal that the calling process sends itself.
siginfo_t make_info(int number, int code) noexcept;

}  // namespace clump::image::signals
