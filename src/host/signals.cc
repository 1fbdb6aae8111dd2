// Fatal signals and uncaught exceptions: whose they are, and what to say of them.
//
// A program may install handlers of its own and keeps them. Where it puts the default action back (as
// libgfortran does before it raises the signal again), it gets ours: its default action is the end of the
// process, and ours is that, with the rank named.
#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>

#include "base/process.h"
#include "host/failure.h"
#include "host/stacks.h"
#include "host/state.h"
#include "image/symbols.h"
#include "inspect/arch.h"
#include "process/memory_owner.h"
#include "process/signals/signals.h"

namespace clump::host {

namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

/// Becomes true with our own handlers. Before, a sanitizer that is starting up may come here, and must meet
/// nothing of C++.
constinit bool installed = false;

Sigaction real_sigaction() {
  static constinit image::Hidden<int(int, const struct sigaction*, struct sigaction*)> real{"sigaction"};
  return *real;
}

bool is_fatal(int number) {
  for (const int fatal : kFatal) {
    if (number == fatal) return true;
  }
  return false;
}

/// True on the thread that is inside the handler: a fault there must not go round in circles.
thread_local bool handling = false;

/// If the memory is another rank's, then that rank's buffer is bad, most likely: a message between two ranks
/// is moved by either of them, or by a thread of a third one.
void describe_owner(char* text, std::size_t capacity, const HostedRank* rank, const void* address) {
  const fiber::Identity* const owner = image::memory_owner(address);
  if (owner == nullptr || (rank != nullptr && owner == &rank->identity)) return;
  if (const char* const call = last_call_of(*owner); call != nullptr)
    std::snprintf(text, capacity, ", memory of rank %d, which has called %s last", owner->rank, call);
  else
    std::snprintf(text, capacity, ", memory of rank %d", owner->rank);
}

std::size_t describe(char* text, std::size_t capacity, const HostedRank* rank, int number,
                     const siginfo_t& info, const ucontext_t& context) {
  int bytes = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  if (number != SIGSEGV && number != SIGBUS && number != SIGFPE && number != SIGILL) return 0;
  if (info.si_code <= 0) {
    bytes = std::snprintf(text, capacity, "sent by process %d", info.si_pid);
  } else if (const std::size_t told =
                 number == SIGSEGV
                     ? describe_overflow(text, capacity, rank, info, image::arch::stack_pointer_of(context))
                     : 0;
             told != 0) {
    return told;
  } else if (info.si_code == SI_KERNEL) {
    bytes = std::snprintf(text, capacity, "not an address");
  } else {
    bytes = std::snprintf(text, capacity, "address 0x%lx", static_cast<unsigned long>(address));
    if (bytes > 0)
      describe_owner(text + bytes, capacity - static_cast<std::size_t>(bytes), rank, info.si_addr);
    return std::strlen(text);
  }
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

void on_fatal_signal(int number, siginfo_t* info, void* context) {
  if (handling || base::process_id() != host().process) {
    // The unwinder itself has failed, or this is a child that a rank has forked: the system's own action.
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    real_sigaction()(number, &standard, nullptr);
    if (handling) end_job({-1, pmi::Reason::kSignal, number, {}, {}});
    // A fault comes again with its instruction. What raise() or kill() has sent, and the signals of system
    // calls and breakpoints, do not.
    if (info->si_code <= 0 || number == SIGSYS || number == SIGTRAP)
      ::syscall(SYS_tgkill, base::process_id(), ::syscall(SYS_gettid), number);
    return;
  }
  const fiber::Identity* identity = fiber::identity();
  const HostedRank* rank = identity != nullptr ? &host().rank(*identity) : nullptr;
  char text[320];
  const bool overflow =
      number == SIGSEGV && info->si_code > 0 &&
      describe_overflow(text, sizeof text, rank, *info,
                        image::arch::stack_pointer_of(*static_cast<const ucontext_t*>(context))) != 0;
  if (image::signals::take_fault(number, info, context, overflow)) return;
  handling = true;
  const std::size_t bytes =
      describe(text, sizeof text, rank, number, *info, *static_cast<const ucontext_t*>(context));
  end_job_here({rank != nullptr ? identity->rank : -1, pmi::Reason::kSignal, number, {text, bytes}, {}},
               context);
}

/// The rank's default action of a signal that is no fault, or that it has raised itself.
void end_by_signal(const fiber::Identity& rank, int number, const siginfo_t& info, bool here,
                   const void* context) {
  char text[80] = "";
  if (!here && info.si_code <= 0)
    std::snprintf(text, sizeof text, "sent by process %d", static_cast<int>(info.si_pid));
  const pmi::FailureView failure{rank.rank, pmi::Reason::kSignal, number, text, {}};
  if (!here) end_job(failure);
  handling = true;
  end_job_here(failure, context);
}

/// Of this process, if it takes signals (still).
fiber::Identity* receiver(int i) noexcept {
  HostedRank& rank = host().rank_at(i);
  return rank.identity.image != nullptr && rank.phase != Phase::kEnded ? &rank.identity : nullptr;
}

fiber::Identity& any_rank(int i) noexcept { return host().rank_at(i).identity; }

int rank_count() noexcept { return host().rank_count(); }

pid_t kernel_thread(const fiber::Identity& rank) noexcept { return host().rank(rank).kernel_thread; }

bool is_of_job(pid_t process) noexcept {
  Host& here = host();
  if (process == here.process) return true;
  if (!here.has_neighbours()) return false;
  const pmi::Node& node = here.job.this_node();
  for (int i = node.first; i < node.first + node.processes; ++i)
    if (!here.job.processes[static_cast<std::size_t>(i)].plain && here.node.host(i).process_id == process)
      return true;
  return false;
}

struct sigaction our_action() {
  struct sigaction action {};
  action.sa_sigaction = on_fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  return action;
}

/// The program's own C++ runtime, if it has one: exceptions are its objects, and ours would not know them.
template <typename Function>
Function of_program(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

/// What std::current_exception() returns: a std::exception_ptr, which is one pointer with a destructor. Ours
/// does nothing, so that the exception is not released by another runtime than the one that made it.
struct ExceptionPointer {
  void* object;
  ~ExceptionPointer() {}  // not trivial: it is returned as std::exception_ptr is
};

/// what() of the exception in flight, in the words of the program's own runtime.
std::string describe_exception() {
  const auto current_type = of_program<std::type_info* (*)()>("__cxa_current_exception_type");
  const auto current = of_program<ExceptionPointer (*)()>("_ZSt17current_exceptionv");
  const std::type_info* type = current_type != nullptr ? current_type() : nullptr;
  if (type == nullptr || current == nullptr)
    return "std::terminate() was called without an exception in flight";
  int status = 0;
  char* name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string text = status == 0 ? name : type->name();
  const auto* base = of_program<const std::type_info*>("_ZTISt9exception");
  void* object = current().object;
  // Thrown pointers are no exceptions; classes derived from std::exception convert to it.
  if (base != nullptr && object != nullptr && base->__do_catch(type, &object, 1)) {
    text += ": ";
    text += static_cast<const std::exception*>(object)->what();
  }
  return text;
}

[[noreturn]] void on_terminate() {
  const fiber::Identity* identity = fiber::identity();
  if (base::process_id() == host().process && identity != nullptr && !handling) {
    handling = true;
    const std::string text = describe_exception();
    end_job_here({identity->rank, pmi::Reason::kException, SIGABRT, text, {}}, nullptr);
  }
  std::abort();
}

}  // namespace

void install_failure_handlers() {
  installed = true;
  const struct sigaction ours = our_action();
  for (const int number : kFatal) {
    struct sigaction before {};
    real_sigaction()(number, nullptr, &before);
    if (before.sa_handler == SIG_DFL) real_sigaction()(number, &ours, nullptr);
  }
  // It asks mpiexec where the ranks are, and a terminal sends it to all processes of the job.
  if (struct sigaction quit{}; host().started_by_mpiexec() &&
                               real_sigaction()(SIGQUIT, nullptr, &quit) == 0 && quit.sa_handler == SIG_DFL) {
    quit.sa_handler = [](int) {};
    quit.sa_flags = SA_RESTART;
    real_sigaction()(SIGQUIT, &quit, nullptr);
  }
  // Before the snapshot: every image's copy of the C++ runtime starts with this handler.
  using Handler = void (*)();
  const auto set_terminate = of_program<Handler (*)(Handler)>("_ZSt13set_terminatePFvvE");
  if (set_terminate != nullptr) set_terminate(on_terminate);
}

void give_ranks_signals() {
  image::signals::begin({.ranks = rank_count,
                         .rank = receiver,
                         .any_rank = any_rank,
                         .kernel_thread = kernel_thread,
                         .is_of_job = is_of_job,
                         .on_fault = on_fatal_signal,
                         .end_rank = end_by_signal,
                         .quit_asks = true});
}

void use_signal_stack(void* memory, std::size_t bytes) {
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = bytes;
  ::sigaltstack(&stack, nullptr);
}

void use_signal_stack_if_none() {
  static std::byte signal_stack[kSignalStackBytes];
  stack_t present{};
  ::sigaltstack(nullptr, &present);
  if ((present.ss_flags & SS_DISABLE) != 0) use_signal_stack(signal_stack, sizeof signal_stack);
}

}  // namespace clump::host

extern "C" CLUMP_HOST_API int sigaction(int number, const struct sigaction* wanted,
                                        struct sigaction* before) noexcept {
  using namespace clump::host;
  namespace signals = clump::image::signals;
  if (signals::is_ours()) {
    const int error = signals::set_action(number, wanted, before);
    if (error == 0) return 0;
    errno = error;
    return -1;
  }
  if (!installed || !is_fatal(number)) return real_sigaction()(number, wanted, before);
  struct sigaction ours = our_action();
  const bool standard =
      wanted != nullptr && (wanted->sa_flags & SA_SIGINFO) == 0 && wanted->sa_handler == SIG_DFL;
  const int result = real_sigaction()(number, standard ? &ours : wanted, before);
  if (result == 0 && before != nullptr && (before->sa_flags & SA_SIGINFO) != 0 &&
      before->sa_sigaction == on_fatal_signal) {
    *before = {};
    before->sa_handler = SIG_DFL;
  }
  return result;
}
