// How a signal gets to a rank, and how its handler is run: on the rank's own stack, in its own thread of
// control, with the mask that the rank has set.
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/process.h"
#include "fiber/fiber.h"
#include "fiber/interrupt.h"
#include "fiber/own_worker.h"
#include "inspect/arch.h"
#include "process/ids.h"
#include "process/memory_owner.h"
#include "process/signals/state.h"
#include "process/threads/thread_directory.h"

namespace clump::image::signals {
namespace {

using Handler = void (*)(int, siginfo_t*, void*);

bool is_on_stack(const stack_t& stack) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.ss_sp);
  return here >= begin && here < begin + stack.ss_size;
}

/// The bytes below the stack pointer that the interrupted function may use.
constexpr std::uintptr_t kRedZone = 256;

/// The stack on which a handler runs; null: the current one. The kernel's handler of faults runs on the
/// kernel thread's signal stack, which a rank's handler must not keep in use.
void* stack_for(const Action& action, const ucontext_t* fault) {
  stack_t wanted{};
  ::sigaltstack(nullptr, &wanted);
  if ((action.flags & SA_ONSTACK) != 0 && (wanted.ss_flags & SS_DISABLE) == 0)
    return is_on_stack(wanted) ? nullptr : static_cast<std::byte*>(wanted.ss_sp) + wanted.ss_size;
  if (fault == nullptr) return nullptr;
  return reinterpret_cast<void*>(arch::stack_pointer_of(*fault) - kRedZone);
}

/// Blocks the signals that are blocked while the handler runs, and returns what was blocked before. In the
/// same Guard as take(): otherwise the service could interrupt the thread between the two, and the handler of
/// a later signal would run first.
Set block_for_handler(Thread& self, int number, const Action& action) {
  const Set before = self.blocked.load(std::memory_order_relaxed);
  self.blocked.store(before | action.mask | ((action.flags & SA_NODEFER) != 0 ? 0 : bit_of(number)),
                     std::memory_order_relaxed);
  return before;
}

/// Runs a handler, after block_for_handler(), which has returned `before`. `kernels`: the context that the
/// kernel has passed, which a handler may change; null: there is none.
void run(Thread& self, siginfo_t& info, const Action& action, Set before, void* kernels,
         const ucontext_t* fault) {
  const int number = info.si_signo, error = errno;
  const Set during = self.blocked.load(std::memory_order_relaxed);
  ucontext_t callers;
  if (kernels == nullptr) {
    ::getcontext(&callers);
    callers.uc_sigmask = to_sigset(before);
    kernels = &callers;
  }
  auto& context = *static_cast<ucontext_t*>(kernels);
  const Set given = to_set(context.uc_sigmask);
  if (during != before) set_blocked(self, during);
  ++self.handled;
  if ((action.flags & SA_RESTART) == 0) ++self.interrupted;
  ++self.in_handlers;
  fiber::begin_long_work();  // the thread may poll for others, which must not have to wait for the handler
  // A handler with a single argument ignores the others.
  const auto handler = reinterpret_cast<Handler>(reinterpret_cast<void*>(action.handler));
  if (void* const stack = stack_for(action, fault))
    clump_call_on_stack(number, &info, &context, handler, stack);
  else
    handler(number, &info, &context);
  --self.in_handlers;
  const Set wanted = to_set(context.uc_sigmask);
  const Set after = wanted == given ? before : wanted;
  if (after != self.blocked.load(std::memory_order_relaxed)) set_blocked(self, after);
  errno = error;
}

/// Keeps the signal stack of the present kernel thread: during the handler the fiber may have moved to
/// another kernel thread, which has a signal stack of its own.
void keep_signal_stack(void* context) {
  ::syscall(SYS_sigaltstack, nullptr, &static_cast<ucontext_t*>(context)->uc_stack);
}

void interrupt_self(int signal) { ::syscall(SYS_tgkill, base::process_id(), ::syscall(SYS_gettid), signal); }

void stop_process() { ::syscall(SYS_kill, base::process_id(), SIGSTOP); }

/// The action to run; resets it for SA_RESETHAND. With the Guard.
Action action_to_run(const fiber::Identity& rank, int number) {
  const Action action = action_of(rank, number);
  if (action.handles() && (action.flags & SA_RESETHAND) != 0) {
    Action& kept = table_of(rank).actions[number];
    kept.handler = SIG_DFL;
    kept.flags &= ~SA_SIGINFO;
    update_kernel(number);
  }
  return action;
}

/// Whether the calling thread itself has caused the signal: by a write to a broken pipe, too large a file, or
/// the C library's own tgkill().
bool is_of_caller(const siginfo_t& info) {
  const bool from_here = info.si_pid == base::process_id();
  if (info.si_code == SI_TKILL) return from_here;
  return info.si_code == SI_USER && from_here && (info.si_signo == SIGPIPE || info.si_signo == SIGXFSZ);
}

/// Whether the signal comes because of F_SETOWN.
bool tells_of_descriptor(const siginfo_t& info) {
  if (info.si_signo == SIGIO || info.si_signo == SIGURG) return info.si_code > 0;
  return info.si_signo != SIGCHLD && info.si_code >= POLL_IN && info.si_code <= POLL_HUP;
}

bool owns_descriptors(const fiber::Identity& rank) {
  return state_of(rank).owns_descriptors.load(std::memory_order_relaxed);
}

bool any_owner() {
  for (int i = 0; i < rank_count(); ++i)
    if (const fiber::Identity* const rank = runtime().rank(i); rank != nullptr && owns_descriptors(*rank))
      return true;
  return false;
}

/// attend() of a thread that the service does not interrupt meanwhile but in handlers: a handler that ends
/// the thread unwinds its stack through the functions that called this, and not from the middle of one. What
/// the service wanted is found here, or by its next call. `looked`: Thread::looks as it was before.
bool attend_undisturbed(Thread& self, void* context, bool looked) {
  bool any = false;
  while (self.rank != nullptr) {
    self.looks.store(true, std::memory_order_relaxed);
    const Set open = ~self.blocked.load(std::memory_order_relaxed);
    if ((pending_of(self) & open) == 0) break;
    siginfo_t info{};
    Action action;
    Set before = 0;
    {
      const Guard guard;
      if (take(self, open & ~self.blocked.load(std::memory_order_relaxed), info) == 0) continue;
      if (info.si_code == SI_TIMER) note_overrun(info);
      action = action_to_run(*self.rank, info.si_signo);
      if (action.handles()) before = block_for_handler(self, info.si_signo, action);
    }
    self.looks.store(looked, std::memory_order_relaxed);
    if (action.handles()) {
      run(self, info, action, before, context, nullptr);
      any = true;
    } else if (!action.ignores(info.si_signo)) {
      if ((bit_of(info.si_signo) & kStops) != 0)
        stop_process();
      else
        runtime().end_rank(*self.rank, info.si_signo, info, false, nullptr);
    }
  }
  self.looks.store(looked, std::memory_order_relaxed);
  return any;
}

}  // namespace

bool attend(Thread& self, void* context) {
  return attend_undisturbed(self, context, self.looks.load(std::memory_order_relaxed));
}

int direct(const fiber::Identity& rank, Thread* to, const siginfo_t& info) {
  Thread& self = mine();
  return bring(rank, to, info, self.rank == &rank && (to == nullptr || to == &self));
}

int bring(const fiber::Identity& rank, Thread* to, const siginfo_t& info, bool here) {
  Thread& self = mine_as_it_is();
  const bool looked = self.looks.load(std::memory_order_relaxed);
  if (here) self.looks.store(true, std::memory_order_relaxed);  // until attend_undisturbed()
  Fate fate;
  {
    const Guard guard;
    fate = leave(rank, to, info, false);
  }
  if (here && fate != Fate::kLeft) self.looks.store(looked, std::memory_order_relaxed);
  switch (fate) {
    case Fate::kDropped:
      return 0;
    case Fate::kNoRoom:
      return EAGAIN;
    case Fate::kEnds:
      runtime().end_rank(rank, info.si_signo, info, here, nullptr);
      return 0;
    case Fate::kStops:
      stop_process();
      return 0;
    case Fate::kLeft:
      break;
  }
  if (here) attend_undisturbed(self, nullptr, looked);
  call_service();
  return 0;
}

void come_from_outside(const siginfo_t& info) {
  const Sender sender = sender_of(info);
  if (!sender.is_early || !keep_early(info)) come_from_outside(info, sender.starter);
}

void come_from_outside(const siginfo_t& info, const fiber::Identity* only) {
  const bool for_owners = tells_of_descriptor(info) && any_owner();
  const fiber::Identity* ends = nullptr;
  bool stops = false;
  for (int i = 0; i < rank_count(); ++i) {
    const fiber::Identity* const rank = runtime().rank(i);
    if (rank == nullptr || (only != nullptr && rank != only)) continue;
    if (for_owners && !owns_descriptors(*rank)) continue;
    const Guard guard;
    const Fate fate = leave(*rank, nullptr, info, true);
    if (fate == Fate::kEnds && ends == nullptr) ends = rank;
    stops |= fate == Fate::kStops;
  }
  if (ends != nullptr) runtime().end_rank(*ends, info.si_signo, info, false, nullptr);
  if (stops) stop_process();
  call_service();
}

// All signals except faults are blocked here, so no handler of this rank runs before it returns.
void on_signal(int, siginfo_t* info, void*) {
  const int error = errno;
  Thread& self = mine_as_it_is();
  if (self.rank != nullptr && is_of_caller(*info))
    come_to(self, *info);
  else if (info->si_signo == SIGCHLD && info->si_code > 0)
    on_child(*info), call_service();
  else if (!on_tick(self, *info))
    come_from_outside(*info);
  errno = error;
}

void come_to(Thread& self, const siginfo_t& info) {
  Fate fate;
  bool restart;
  {
    const Guard guard;
    restart = (action_of(*self.rank, info.si_signo).flags & SA_RESTART) != 0;
    fate = leave(*self.rank, &self, info, false);
  }
  if (fate == Fate::kEnds) runtime().end_rank(*self.rank, info.si_signo, info, true, nullptr);
  if (fate == Fate::kStops) stop_process();
  if (fate == Fate::kLeft) interrupt_self(restart ? kRestart : kInterrupt);
}

void on_attention(int, siginfo_t* info, void* context) {
  const int error = errno;
  Thread& self = mine_as_it_is();
  take_directory(self);
  if (info->si_code == SI_TIMER) {
    on_timer(*info);
  } else if (is_forwarded(*info)) {
    come_from_rank(*info);
  } else if (may_run_handlers(self)) {
    if (attend(self, context)) keep_signal_stack(context);
  }
  errno = error;
}

namespace {

/// Whether the thread may hold a lock that a handler needs: it has caused a fault in code of Clump's.
bool is_inside_clump() {
  // relaxed: the thread's own
  return fiber::in_section() || mine_as_it_is().no_handlers.load(std::memory_order_relaxed) != 0;
}

/// The thread has accessed memory that another rank has protected, or that its own rank has while the thread
/// is inside Clump: a rank that notes in a handler which pages are written (mprotect()) lets the access go
/// on. The owner's handler runs on the thread's signal stack, and what it calls is done for the owner.
bool handle_for_owner(int number, siginfo_t* info, void* context) {
  if (number != SIGSEGV || info->si_code != SEGV_ACCERR) return false;
  fiber::Identity* const self = fiber::detail::current_identity;
  fiber::Identity* owner = memory_owner(info->si_addr);
  if (owner == nullptr && self == nullptr && rank_count() == 1) owner = runtime().rank(0);
  if (owner == nullptr || (owner == self && !is_inside_clump())) return false;
  Action action;
  {
    const Guard guard;
    action = action_to_run(*owner, number);
  }
  if (!action.handles()) return false;
  const int error = errno;
  fiber::adopt_identity(owner);
  // A handler with a single argument ignores the others.
  reinterpret_cast<Handler>(reinterpret_cast<void*>(action.handler))(number, info, context);
  fiber::adopt_identity(self);
  errno = error;
  return true;
}

}  // namespace

bool take_fault(int number, siginfo_t* info, void* context, bool overflow) {
  if (is_on() && !overflow && handle_for_owner(number, info, context)) return true;
  if (!is_on() || is_inside_clump()) return false;
  const bool own = is_of_caller(*info);
  if (info->si_code <= 0 && !own) {
    come_from_outside(*info);
    return true;
  }
  Thread& self = mine();
  if (self.rank == nullptr) return false;
  Action action;
  Set before = 0;
  {
    const Guard guard;
    if ((self.blocked.load(std::memory_order_relaxed) & bit_of(number)) != 0) return false;
    action = action_to_run(*self.rank, number);
    const bool on_own_stack = (action.flags & SA_ONSTACK) != 0;
    if (!action.handles() || (overflow && !on_own_stack)) return false;
    before = block_for_handler(self, number, action);
  }
  run(self, *info, action, before, context, overflow ? nullptr : static_cast<const ucontext_t*>(context));
  attend(self, context);
  keep_signal_stack(context);
  return !(own && number == SIGABRT);  // a handler that returns to abort() does not prevent the end of the
                                       // rank
}

#if defined(__x86_64__)
__asm__(R"(
  .pushsection .text
  .globl clump_call_on_stack
  .hidden clump_call_on_stack
  .type clump_call_on_stack, @function
clump_call_on_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %r8, %rsp
  andq $-16, %rsp
  call *%rcx
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size clump_call_on_stack, .-clump_call_on_stack
  .popsection
)");
#elif defined(__aarch64__)
__asm__(R"(
  .pushsection .text
  .globl clump_call_on_stack
  .hidden clump_call_on_stack
  .type clump_call_on_stack, %function
clump_call_on_stack:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_adjust_cfa_offset 16
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  .cfi_def_cfa_register x29
  and x9, x4, #-16
  mov sp, x9
  blr x3
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp x29, x30, [sp], #16
  .cfi_adjust_cfa_offset -16
  ret
  .cfi_endproc
  .size clump_call_on_stack, .-clump_call_on_stack
  .popsection
)");
#endif

}  // namespace clump::image::signals
