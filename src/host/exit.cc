// The end of a rank and of the job: who leaves in which way, and what mpiexec is told.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <span>
#include <string_view>

#include "base/printable.h"
#include "base/process.h"
#include "diag/capture.h"
#include "fiber/fiber.h"
#include "host/core.h"
#include "host/failure.h"
#include "host/host.h"
#include "host/state.h"
#include "pmi/pmix.h"
#include "process/files/output.h"
#include "process/libc/exit.h"
#include "process/signals/signals.h"
#include "process/threads/left_behind.h"

extern "C" [[gnu::weak]] void clump_malloc_end();  // src/malloc/young.h

namespace clump::host {

namespace {

/// A rank that failed after it was done with MPI: so long may the others come to their own end, for they may
/// have things to say.
constexpr std::chrono::milliseconds kGrace{500};

/// So long may the search for the stack take.
constexpr std::chrono::microseconds kCaptureTime{300'000};

std::atomic<bool> failing{false};

std::mutex ended_lock;
auto& ended_changed = *new std::condition_variable;
int ended_ranks = 0;

/// The first rank that left orderly but with a code that is not zero: (rank + 1) << 8 | code; 0: none.
std::atomic<std::uint64_t> bad_exit{0};

/// The C library was about to write out what the program's streams hold.
std::atomic<bool> leaves_streams{false};

/// Memory for the failure that is told: a signal handler has no other.
diag::Stack failing_stack;
diag::FrameTexts failing_texts;
char failing_packet[60 << 10];

[[noreturn]] void sleep_forever() {
  for (;;) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

/// True for the first caller only.
bool first_to_fail() {
  return !failing.exchange(true,
                           std::memory_order_acq_rel);  // acq_rel: pairs with itself, one caller sees false
}

int exit_code_of(const pmi::FailureView& failure) {
  if (failure.reason == pmi::Reason::kSignal) return 128 + failure.code;
  const int code = failure.code & 0xff;
  return code != 0 ? code : 1;
}

/// What would have ended a process of the system's; 0: no signal.
int signal_of(const pmi::FailureView& failure) {
  if (failure.reason == pmi::Reason::kException) return SIGABRT;
  return failure.reason == pmi::Reason::kSignal ? failure.code : 0;
}

/// To the user, as there is no mpiexec. In a signal handler, too.
void print(const pmi::FailureView& failure) {
  char text[4000], name[256] = {}, end[80] = "ended the job", line[4096];
  const pmi::Job& job = host().job;
  const int length = static_cast<int>(base::printable_into(text, failure.text));
  const bool is_exit = failure.reason == pmi::Reason::kExited;
  const char* const signal = failure.reason == pmi::Reason::kSignal ? ::sigabbrev_np(failure.code) : nullptr;
  if (signal != nullptr) std::snprintf(end, sizeof end, "was ended by SIG%s", signal);
  if (is_exit) std::snprintf(end, sizeof end, "ended with exit code %d", failure.code & 0xff);
  // After an exit code the text continues the sentence: "before it called MPI_Finalize".
  const char* const then = failure.text.empty() ? "" : is_exit ? " " : ": ";
  base::printable_into(std::span(name).first(sizeof name - 1), job.this_node().name);
  const int bytes =
      std::snprintf(line, sizeof line, "clump: rank %d of %d%s%s %s%s%.*s\n", job.first_rank(job.here()),
                    job.ranks(), *name == '\0' ? "" : " on ", name, end, then, length, text);
  (void)!::write(STDERR_FILENO, line, std::min<std::size_t>(bytes, sizeof line - 1));
}

/// Has the kernel call `handler` after so long, whatever ranks do with SIGALRM; 0 calls it off.
void call_late(sighandler_t handler, std::chrono::microseconds time) {
  struct sigaction action {};
  action.sa_handler = handler;
  image::signals::kernel_action(SIGALRM, &action, nullptr);
  constexpr std::uint64_t kLate = std::uint64_t{1} << (SIGALRM - 1);
  ::syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &kLate, nullptr, sizeof kLate);
  const itimerval timer{{0, 0}, {time / std::chrono::seconds(1), time.count() % 1'000'000}};
  ::syscall(SYS_setitimer, ITIMER_REAL, &timer, nullptr);
}

/// Launchers may let the others wait for ever for one that has ended. In a signal handler, too: should it
/// hang there, its time is limited.
void have_launcher_end_job(int code) {
  call_late(SIG_DFL, std::chrono::seconds(1));
  pmi::pmix::abort(code, "a rank has failed");
}

/// To the user, and to the launcher that has started the ranks.
void tell_without_mpiexec(const pmi::FailureView& failure) {
  print(failure);
  if (host().by_pmix && pmi::pmix::size() > 1) have_launcher_end_job(exit_code_of(failure));
}

[[noreturn]] void tell_and_exit(const pmi::FailureView& failure) {
  static std::atomic<bool> telling{false};
  if (telling.exchange(true)) sleep_forever();  // capture() came to its end just when its time was up
  if (host().started_by_mpiexec()) {
    const std::size_t bytes = pmi::encode(failure, failing_packet);
    (void)!::send(host().control, failing_packet, bytes, MSG_NOSIGNAL);
    if (leaves_streams) std::fflush(nullptr);
    image::output::flush_all();  // should it hang on a broken heap: mpiexec waits only so long once it has
                                 // the packet
  } else {
    tell_without_mpiexec(failure);
  }
  if (const int signal = signal_of(failure); signal != 0 && leaves_core()) end_with_core(signal);
  image::exit_process(exit_code_of(failure));
}

/// What is told when the stack cannot be found in time.
pmi::FailureView failure_without_stack;

/// capture() hangs, on a lock that a thread in trouble holds.
void on_late_capture(int) { tell_and_exit(failure_without_stack); }

void limit_capture_time(const pmi::FailureView& failure) {
  failure_without_stack = failure;
  call_late(on_late_capture, kCaptureTime);
}

/// Gives back the memory that a spawned rank has freed: the process goes on, and spawns others. Ranks that
/// were started together end together.
void give_back_memory(const HostedRank& rank, image::ExitKind kind) {
  if (clump_malloc_end == nullptr || rank.spawned == nullptr) return;
  // _exit() may be called in the middle of malloc().
  if (kind == image::ExitKind::kExit && !image::signals::may_be_in_handler()) clump_malloc_end();
}

/// A rank's normal end. The last one ends the process.
[[noreturn]] void end_normally() {
  {
    std::unique_lock lock(ended_lock);
    ++ended_ranks;
    ended_changed.notify_all();
    if (ended_ranks < host().rank_count()) {
      lock.unlock();
      fiber::end_here();
    }
  }
  wait_for_other_hosts();
  image::end_process(0);
}

/// A rank has left with a code that is not zero, but orderly.
[[noreturn]] void end_badly(int rank, int code) {
  std::uint64_t none = 0;
  const std::uint64_t mine = (static_cast<std::uint64_t>(rank) + 1) << 8 | static_cast<std::uint64_t>(code);
  std::unique_lock lock(ended_lock);
  if (bad_exit.compare_exchange_strong(none, mine)) {
    const auto all_others = [] { return ended_ranks + 1 >= host().rank_count(); };
    ended_changed.wait_for(lock, kGrace, all_others);
    lock.unlock();
    end_job({rank, pmi::Reason::kExited, code, {}, {}});
  }
  ++ended_ranks;  // the first one tells mpiexec, and ends the process
  ended_changed.notify_all();
  lock.unlock();
  sleep_forever();
}

using EarlyEnd = char[160];

/// What the report of a rank says that has not called `owed`.
void describe_early_end(EarlyEnd& text, const char* how, const char* owed) {
  std::snprintf(text, sizeof text,
                "%sbefore it called %s: every rank has to call it, unless one calls MPI_Abort", how, owed);
}

/// Programs that have replaced other ranks may wait for this one, which has ended in order.
void note_early_end(const fiber::Identity& rank) {
  Host& here = host();
  const bool has_begun = rank.mpi.load(std::memory_order_acquire) != nullptr;  // see current_rank()
  if (here.is_imaged() && !has_begun && !here.rank(rank).is_replaced && here.node_descriptor >= 0)
    ++here.node.host(here.job.process).left_early;
}

}  // namespace

void end_job(const pmi::FailureView& failure) {
  if (!first_to_fail()) sleep_forever();
  tell_and_exit(failure);
}

void end_job_here(pmi::FailureView failure, const void* context) {
  image::left_behind::stay_if_left();  // its rank has ended, perhaps well
  if (!first_to_fail()) sleep_forever();
  if (const std::uint64_t earlier = bad_exit.load(); earlier != 0) {
    // That rank only waits for the others: this failure may follow from its absence.
    tell_and_exit(
        {static_cast<int>(earlier >> 8) - 1, pmi::Reason::kExited, static_cast<int>(earlier & 0xff), {}, {}});
  }
  limit_capture_time(failure);
  diag::capture(failing_stack, context);
  if (const fiber::Identity* const rank = fiber::identity(); rank != nullptr)
    diag::add_python(failing_stack, host().rank(*rank).interpreter, failing_texts);
  call_late(on_late_capture, {});
  failure.frames = failing_stack.view();
  tell_and_exit(failure);
}

void fail_job(pmi::Failure failure) {
  end_job_here({failure.rank, failure.reason, failure.code, failure.text, {}}, nullptr);
}

void fail_by_exception(std::string words) {
  const fiber::Identity* const rank = fiber::identity();
  fail_job({rank != nullptr ? rank->rank : -1, pmi::Reason::kAborted, 1, std::move(words), {}});
}

void rank_owes(const fiber::Identity& rank, const char* call) {
  Host& here = host();
  if (call != nullptr) diag::find_interpreter(here.rank(rank).interpreter);
  const char* const before = here.rank(rank).owes.exchange(call);
  if (!here.has_neighbours()) return;
  pmi::HostState& state = here.node.host(here.job.process);
  state.owing += static_cast<int>(call != nullptr) - (before != nullptr);
  const bool owes_world = call != nullptr && std::string_view(call) == "MPI_Finalize";
  if (owes_world && !here.rank(rank).in_world.exchange(true)) ++state.in_world;
}

void on_exit_without_mpiexec(int code, void*) {
  Host& here = host();
  const bool is_early = here.ranks[0].owes != nullptr && pmi::pmix::size() > 1;
  if (!is_early || base::process_id() != here.process || !first_to_fail()) return;
  EarlyEnd text;
  describe_early_end(text, "", here.ranks[0].owes);
  std::fflush(nullptr);
  tell_without_mpiexec({here.ranks[0].identity.rank, pmi::Reason::kExited, code, text, {}});
}

void on_rank_exit(fiber::Identity* rank, int code, image::ExitKind kind) {
  const bool plain = host().job.here().plain;
  if (plain) rank = &host().ranks[0].identity;  // it has no image
  if (rank == nullptr || base::process_id() != host().process)
    image::exit_process(code);  // a child that a rank has forked
  const Phase before = host().rank(*rank).phase.exchange(Phase::kEnded);
  if (before == Phase::kEnded) sleep_forever();  // another thread of the same rank was first
  if (code == 0) note_early_end(*rank);
  if (const char* const owed = host().rank(*rank).owes; owed != nullptr) {
    leaves_streams = plain && kind == image::ExitKind::kExit;
    EarlyEnd text;
    describe_early_end(text, kind == image::ExitKind::kImmediate ? "by _exit() " : "", owed);
    end_job_here({rank->rank, pmi::Reason::kExited, code, text, {}}, nullptr);
  }
  if (plain) {                                   // mpiexec sees the code
    if (kind == image::ExitKind::kExit) return;  // other hosts: wait_for_other_hosts_at_exit()
    if (code == 0) wait_for_other_hosts();
    image::exit_process(code);
  }
  if ((code & 0xff) != 0) end_badly(rank->rank, code & 0xff);
  give_back_memory(host().rank(*rank), kind);
  end_normally();
}

}  // namespace clump::host
