#include "process/signals/state.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/core_delay.h"
#include "base/mutex.h"
#include "base/process.h"
#include "fiber/interrupt.h"
#include "fiber/kernel_state.h"
#include "fiber/rank_callbacks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/ids.h"
#include "process/rank_state.h"

namespace clump::image::signals {
namespace {

constinit Runtime runtime_{};
constinit std::atomic<bool> on{false};
constinit pid_t process = 0;
constinit base::ShortMutex lock;

constinit Table* tables = nullptr;
constinit int table_count = 0;
/// The actions that the process began with.
struct sigaction beginning[kSignals + 1];
constinit Set claimed = 0;

constinit thread_local Thread own;

bool is_valid(int number) { return number >= 1 && number <= kHighest && number != 32 && number != 33; }

Action to_action(const struct sigaction& given) {
  return {(given.sa_flags & SA_SIGINFO) != 0
              ? reinterpret_cast<sighandler_t>(reinterpret_cast<void*>(given.sa_sigaction))
              : given.sa_handler,
          to_set(given.sa_mask), given.sa_flags};
}

struct sigaction to_sigaction(const Action& action) {
  struct sigaction given {};
  given.sa_handler = action.handler;  // the same place as sa_sigaction
  given.sa_mask = to_sigset(action.mask);
  given.sa_flags = action.flags;
  return given;
}

/// The action for a signal at the start. The runtime's own handlers (of faults, for example) count as the
/// default action; a handler that was there before them is kept.
Action action_at_beginning(int number) {
  const Action action = to_action(beginning[number]);
  const bool is_runtimes =
      action.handler == reinterpret_cast<sighandler_t>(reinterpret_cast<void*>(runtime_.on_fault)) ||
      (number == SIGQUIT && runtime_.quit_asks && action.handles());
  return is_runtimes ? Action{} : action;
}

/// What all ranks together want for a signal, as far as the kernel's action depends on it.
struct Wants {
  bool all_ignore = true, any_handler = false, any_changed = false, all_restart = true;
  bool all_want_no_stops = true, all_leave_no_zombies = true;
};

Wants wants(int number) {
  Wants all;
  const auto count_in = [&](const Action& action) {
    all.all_ignore &= action.handler == SIG_IGN;
    all.all_leave_no_zombies &= action.handler == SIG_IGN || (action.flags & SA_NOCLDWAIT) != 0;
    if (!action.handles()) return;
    all.any_handler = true;
    all.all_restart &= (action.flags & SA_RESTART) != 0;
    all.all_want_no_stops &= (action.flags & SA_NOCLDSTOP) != 0;
  };
  const Action first = action_at_beginning(number);
  if (table_count < rank_count()) count_in(first);
  for (const Table* table = tables; table != nullptr; table = table->next) {
    count_in(table->actions[number]);
    all.any_changed |= table->actions[number].handler != first.handler;
  }
  return all;
}

/// A rank handles a signal: from now on its waits can be interrupted.
void wake_for_signals(Table& table) {
  if (std::exchange(table.is_woken, true)) return;
  table.rank->parks.store(true, std::memory_order_relaxed);
  if (table.rank->callbacks != nullptr) table.rank->callbacks->park();
}

/// The processor time of a thread: that of its own kernel thread, also from before it became a fiber, and its
/// time as a fiber.
std::chrono::nanoseconds time_of(const Thread& thread) {
  clockid_t clock{};
  timespec used{};
  if (::pthread_getcpuclockid(thread.handle, &clock) == 0) ::clock_gettime(clock, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec) +
         std::chrono::nanoseconds(thread.processor_time->load(std::memory_order_relaxed));
}

}  // namespace

bool may_be_in_handler() noexcept { return own.in_handlers != 0; }

Guard::Guard() : before_(block_all()) { lock.lock(); }

Guard::~Guard() noexcept(false) {
  lock.unlock();
  set_kernel_mask(before_);
}

// Of a thread that is not in its rank's list, Clump runs no handlers.
NoHandlers::NoHandlers() noexcept : self_(is_on() && own.rank != nullptr ? &own : nullptr) {
  if (self_ == nullptr) {
    before_ = block_all();
    return;
  }
  // relaxed: only the thread itself looks, in a handler
  self_->no_handlers.store(self_->no_handlers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

NoHandlers::~NoHandlers() noexcept(false) {
  if (self_ == nullptr) {
    set_kernel_mask(before_);
    return;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const int left = self_->no_handlers.load(std::memory_order_relaxed) - 1;
  self_->no_handlers.store(left, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (left != 0 || self_->rank == nullptr) return;
  const bool any = (pending_of(*self_) & ~self_->blocked.load(std::memory_order_relaxed)) != 0;
  if (any && may_run_handlers(*self_)) attend(*self_);
}

LetHandlers::LetHandlers() : self_(is_on() && own.rank != nullptr ? &own : nullptr) {
  if (self_ == nullptr) return;
  kept_ = self_->no_handlers.exchange(0, std::memory_order_relaxed);  // relaxed: the thread's own
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (kept_ == 0) return;
  const bool any = (pending_of(*self_) & ~self_->blocked.load(std::memory_order_relaxed)) != 0;
  if (any && may_run_handlers(*self_)) attend(*self_);
}

LetHandlers::~LetHandlers() {
  if (self_ == nullptr || kept_ == 0) return;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  self_->no_handlers.store(kept_, std::memory_order_relaxed);
}

bool may_run_handlers(const Thread& self) noexcept {
  // relaxed: the thread's own
  return self.rank != nullptr && self.no_handlers.load(std::memory_order_relaxed) == 0 &&
         !fiber::in_section() && !self.looks.load(std::memory_order_relaxed);
}

Thread& mine_as_it_is() { return own; }

Thread& mine() {
  fiber::Identity* const rank = fiber::identity();
  // Destructors of thread-local objects and of keys run when the thread has left the list: its memory is gone
  // soon.
  if (own.rank == nullptr && rank != nullptr && !own.has_ended) begin_thread();
  return own;
}

bool is_on() noexcept { return on.load(std::memory_order_relaxed); }
// The child of vfork() has this process's memory, but signals of its own in the kernel.
bool is_ours() noexcept { return is_on() && fiber::identity() != nullptr && base::process_id() == process; }
const Runtime& runtime() noexcept { return runtime_; }
int rank_count() noexcept { return runtime_.ranks != nullptr ? runtime_.ranks() : 0; }

bool has_ended(const fiber::Identity& rank) noexcept {
  for (int i = 0; i < rank_count(); ++i)
    if (&runtime_.any_rank(i) == &rank) return runtime_.rank(i) == nullptr;
  return true;
}

SignalState& state_of(const fiber::Identity& rank) { return image_of(&rank).state().signals; }

Table* first_table() noexcept { return tables; }

Table& own_table() {
  const Guard guard;
  return table_of(*fiber::identity());
}

Table& table_of(const fiber::Identity& rank) {
  SignalState& state = state_of(rank);
  if (state.table != nullptr) return *state.table;
  void* const memory =
      ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    constexpr char kWhy[] = "clump: no memory for a rank's signal handlers (ulimit -v, vm.max_map_count)\n";
    (void)!::write(STDERR_FILENO, kWhy, sizeof kWhy - 1);
    std::abort();
  }
  auto* const table = static_cast<Table*>(memory);  // all zero at first; it takes memory as it is used
  table->rank = image_of(&rank).identity();
  for (int number = 1; number <= kHighest; ++number) table->actions[number] = action_at_beginning(number);
  table->next = tables;
  tables = table;
  ++table_count;
  state.table = table;
  return *table;
}

void begin(const Runtime& runtime) {
  runtime_ = runtime;
  process = base::process_id();
  for (int number = 1; number <= kSignals; ++number) kernel_action(number, nullptr, &beginning[number]);
  struct sigaction attention {};
  attention.sa_sigaction = on_attention;
  attention.sa_flags = SA_SIGINFO | SA_NODEFER;
  kernel_action(kInterrupt, &attention, nullptr);
  attention.sa_flags |= SA_RESTART;
  kernel_action(kRestart, &attention, nullptr);
  fiber::on_wake([] { attend(mine_as_it_is()); });
  on.store(true, std::memory_order_relaxed);
}

std::chrono::nanoseconds processor_time_of(const fiber::Identity& rank) {
  fiber::count_processor_time();
  const Guard guard;
  const SignalState& state = state_of(rank);
  std::chrono::nanoseconds all = state.ended_threads;
  for (const Thread* thread = state.threads; thread != nullptr; thread = thread->next)
    all += time_of(*thread);
  return all;
}

std::chrono::nanoseconds processor_time_of_caller() {
  fiber::count_processor_time();
  return time_of(mine());
}

void begin_thread() {
  if (!is_on()) return;
  own.rank = fiber::identity();
  own.handle = ::pthread_self();
  Set blocked = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof blocked);
  own.blocked.store(blocked & ~kNeverBlocked, std::memory_order_relaxed);
  own.fiber = fiber::rank_fiber();
  own.number = fiber::own_kernel_thread();
  own.processor_time = &fiber::own_processor_time();
  const Guard guard;
  SignalState& state = state_of(*own.rank);
  own.next = state.threads;
  if (own.next != nullptr) own.next->previous = &own;
  state.threads = &own;
}

void begin_main_thread() {
  if (!is_on()) return;
  if (own.rank == nullptr) return begin_thread();
  // The native rank's constructors have run before it became a fiber.
  {
    const Guard guard;
    own.fiber = fiber::rank_fiber();
    own.number = fiber::own_kernel_thread();
  }
  set_blocked(own, own.blocked.load(std::memory_order_relaxed));
}

namespace {

/// Whether time_of_ended_threads() has been called: only then a thread asks the kernel for its time.
std::atomic<bool> counts_ended_threads{false};

/// By the thread that ends, also in a plain process.
void count_as_ended() noexcept {
  const fiber::Identity* const rank = fiber::identity();
  if (rank == nullptr || !counts_ended_threads.load(std::memory_order_relaxed)) return;
  const Set before = block_all();  // a handler might end the thread here
  if (const std::optional<std::chrono::nanoseconds> delay = base::read_core_delay())
    state_of(*rank).ended_delay.fetch_add(delay->count(), std::memory_order_relaxed);
  set_kernel_mask(before);
}

}  // namespace

void end_thread() noexcept {
  count_as_ended();
  if (own.rank == nullptr) return;
  const std::chrono::nanoseconds used = time_of(own);
  const Guard guard;
  SignalState& state = state_of(*own.rank);
  state.ended_threads += used;
  if (own.next != nullptr) own.next->previous = own.previous;
  (own.previous != nullptr ? own.previous->next : state.threads) = own.next;
  own.rank = nullptr;
  own.has_ended = true;
  if (state.table == nullptr) return;
  for (Pending& place : state.table->places)
    if (place.to == &own) place = {};
}

void become_process(Set blocked) noexcept {
  if (!is_on()) return set_kernel_mask(blocked);
  on.store(false, std::memory_order_relaxed);
  lock.unlock();  // a thread that is not here may have had it
  fiber::Identity* const rank = fiber::identity();
  if (rank == nullptr) return set_kernel_mask(blocked);
  for (int number = 1; number <= kHighest; ++number) {
    if (!is_valid(number) || number == SIGKILL || number == SIGSTOP) continue;
    if ((claimed & bit_of(number)) == 0) continue;
    const struct sigaction action = to_sigaction(action_of(*rank, number));
    kernel_action(number, &action, nullptr);
  }
  set_kernel_mask(own.rank != nullptr ? own.blocked.load(std::memory_order_relaxed) : blocked);
}

int kernel_action(int number, const struct sigaction* wanted, struct sigaction* before) noexcept {
  static constinit Hidden<int(int, const struct sigaction*, struct sigaction*)> real{"sigaction"};
  return real(number, wanted, before);
}

Action action_of(const fiber::Identity& rank, int number) {
  const Table* const table = state_of(rank).table;
  return table != nullptr ? table->actions[number] : action_at_beginning(number);
}

void update_kernel(int number) {
  const Set bit = bit_of(number);
  const Wants all = wants(number);
  if ((claimed & bit) == 0 && !all.any_changed) return;
  claimed |= bit;
  struct sigaction action {};
  if ((bit & kFaults) != 0) {
    action.sa_sigaction = runtime_.on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  } else if (all.all_ignore) {
    action.sa_handler = SIG_IGN;
  } else {
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    // If the handler of one tick blocked the other, of two ticks at the same time the second would go to
    // another thread.
    action.sa_mask = to_sigset(~kFaults & ~kTicks);
    if (all.all_restart) action.sa_flags |= SA_RESTART;
    if (number == SIGCHLD && all.all_want_no_stops) action.sa_flags |= SA_NOCLDSTOP;
    if (number == SIGCHLD && all.all_leave_no_zombies) action.sa_flags |= SA_NOCLDWAIT;
  }
  kernel_action(number, &action, nullptr);
}

int kernel_threads_of(const fiber::Identity& rank, std::span<pid_t> numbers) noexcept {
  if (!is_on()) return -1;
  std::size_t count = 0;
  const Guard guard;
  for (const Thread* thread = state_of(rank).threads; thread != nullptr; thread = thread->next)
    if (thread->fiber == nullptr && count < numbers.size()) numbers[count++] = thread->number;
  return static_cast<int>(count);
}

std::chrono::nanoseconds time_of_ended_threads(const fiber::Identity& rank) noexcept {
  counts_ended_threads.store(true, std::memory_order_relaxed);
  const SignalState& state = state_of(rank);
  const std::chrono::nanoseconds delay(state.ended_delay.load(std::memory_order_relaxed));
  if (!is_on()) return delay;
  const Guard guard;
  return state.ended_threads + delay;
}

const fiber::Fiber* fiber_of(const fiber::Identity& rank) noexcept {
  if (!is_on()) return nullptr;
  const Guard guard;
  for (const Thread* thread = state_of(rank).threads; thread != nullptr; thread = thread->next)
    if (thread->fiber != nullptr) return thread->fiber;
  return nullptr;
}

bool any_handler(Set which) noexcept {
  if (!is_on()) {
    for (int number = 1; number <= kSignals; ++number) {
      struct sigaction action {};
      const bool asked = (which & bit_of(number)) != 0 && number != 32 && number != 33;
      if (asked && kernel_action(number, nullptr, &action) == 0 && to_action(action).handles()) return true;
    }
    return false;
  }
  const Guard guard;
  for (int number = 1; number <= kHighest; ++number)
    if ((which & bit_of(number)) != 0 && wants(number).any_handler) return true;
  return false;
}

void claim(Set numbers) {
  const Guard guard;
  for (int number = 1; number <= kHighest; ++number) {
    if ((numbers & ~claimed & bit_of(number)) == 0 || !is_valid(number)) continue;
    claimed |= bit_of(number);
    update_kernel(number);
  }
}

void ignore_for_exec() noexcept {
  const fiber::Identity* const rank = fiber::identity();
  if (!is_on() || rank == nullptr || base::process_id() == process) return;
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (int number = 1; number <= kHighest; ++number) {
    if ((claimed & ~kFaults & bit_of(number)) == 0 || action_of(*rank, number).handler != SIG_IGN) continue;
    struct sigaction now {};
    kernel_action(number, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal)
      kernel_action(number, &ignore, nullptr);
  }
}

Set ignored_by_rank() noexcept {
  if (!is_ours()) return 0;
  Set ignored = 0;
  const Guard guard;
  for (int number = 1; number <= kHighest; ++number) {
    if ((claimed & bit_of(number)) == 0 || action_of(*fiber::identity(), number).handler != SIG_IGN) continue;
    struct sigaction now {};
    kernel_action(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) ignored |= bit_of(number);
  }
  return ignored;
}

void pass_on_to(pid_t successor) {
  if (!is_ours()) return;
  claim(set_of({SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT}));
  const Guard guard;
  state_of(*fiber::identity()).successor = successor;
}

int set_action(int number, const struct sigaction* wanted, struct sigaction* before) {
  if (!is_valid(number)) return EINVAL;
  const bool fixed = number == SIGKILL || number == SIGSTOP;
  if (fixed && wanted != nullptr) return EINVAL;
  Action action, last;
  if (wanted != nullptr) action = to_action(*wanted);
  if (wanted == nullptr) {
    const Guard guard;
    last = fixed ? Action{} : action_of(*fiber::identity(), number);
  } else {
    Table& table = own_table();
    const bool comes_from_outside = action.handles() && (bit_of(number) & kFaults) == 0;
    if (comes_from_outside) start_service();
    const Guard guard;
    last = std::exchange(table.actions[number], action);
    if (action.ignores(number)) forget(table, number);
    if (comes_from_outside) wake_for_signals(table);
    update_kernel(number);
  }
  if (before != nullptr) *before = to_sigaction(last);
  return 0;
}

Set to_set(const sigset_t& set) noexcept {
  Set bits = 0;
  std::memcpy(&bits, &set, sizeof bits);
  return bits;
}

sigset_t to_sigset(Set set) noexcept {
  sigset_t all{};
  std::memcpy(&all, &set, sizeof set);
  return all;
}

void set_blocked(Thread& self, Set blocked) {
  blocked &= ~kNeverBlocked;
  const Set in_kernel = blocked & ~kFaults;
  self.blocked.store(blocked, std::memory_order_relaxed);
  if (fiber::rank_fiber() != nullptr)
    fiber::set_signal_mask(in_kernel);
  else
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &in_kernel, nullptr, sizeof in_kernel);
}

int change_mask(int how, const sigset_t* set, sigset_t* before) {
  Thread& self = mine();
  const Set now = self.blocked.load(std::memory_order_relaxed);
  Set after = now;
  if (set != nullptr) {
    const Set named = to_set(*set) & ~kNeverBlocked;
    switch (how) {
      case SIG_BLOCK:
        after = now | named;
        break;
      case SIG_UNBLOCK:
        after = now & ~named;
        break;
      case SIG_SETMASK:
        after = named;
        break;
      default:
        return EINVAL;
    }
  }
  if (before != nullptr) *before = to_sigset(now);
  if (after == now) return 0;
  if (const Set more = after & ~now; more != 0) claim(more);
  set_blocked(self, after);
  if ((now & ~after) != 0) attend(self);
  return 0;
}

siginfo_t make_info(int number, int code) noexcept {
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = code;
  info.si_pid = process_ids::mine();
  info.si_uid = ::getuid();
  return info;
}

}  // namespace clump::image::signals
