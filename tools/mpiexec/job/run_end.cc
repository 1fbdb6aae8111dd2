// How a job ends: by itself, by a failure, or from outside.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/why_refused.h"
#include "diag/report.h"
#include "job/run_state.h"
#include "output/flush.h"
#include "plan/rank_list.h"

namespace clump::mpiexec {

namespace {

/// ld.so ends a program with this code where it cannot load a library, and names no limit.
std::string why_not_loaded(int code) {
  constexpr int kNotLoaded = 127;
  const std::string limits = code == kNotLoaded ? base::limits_of_memory() : std::string();
  return limits.empty() ? limits : fmt::format("({})", limits);
}

constexpr int kMostLateLooks = 8;                       ///< of kGrace each: mpiexec waits a little longer
constexpr std::chrono::seconds kEndOfDump{10};          ///< its core file is written, and its memory goes
constexpr std::chrono::milliseconds kLastAnswer{1000};  ///< so long may ranks take to tell where they are
constexpr std::chrono::seconds kKillPatience{1};        ///< what was killed is usually gone in milliseconds

}  // namespace

void Run::end_now() {
  if (failure_ ? waits_for_core() : waits_for_supervisor()) return;
  if (failure_ && exit_code_ == 0) exit_code_ = failure_code(*failure_);
  if (is_grace_ && requests_.signal() != 0 && exit_code_ == 0) exit_code_ = 128 + requests_.signal();
  end_at_.reset();
  if (exit_code_ == 0) return tell_before_end(SIGALRM);
  running_ = 0;
  gdb_.end();
}

void Run::end_processes() {
  supervisor_.begin_stop();
  for (const auto since = Clock::now(); !supervisor_.has_stopped();) {
    tools::PollSet all;
    all.add(supervisor_.end_descriptor());
    all.wait(static_cast<int>(Supervisor::kLookForEnd.count()));
    if (Clock::now() - since < kKillPatience) continue;
    // The system holds up a process, in a file system that does not answer, say. The user need not wait for
    // it.
    siginfo_t info;
    while (signals_.next(info)) {
      if (info.si_signo == SIGTSTP) ::raise(SIGSTOP);
      if (EndRequests::ends_job(info.si_signo)) return supervisor_.abandon();
    }
  }
}

void Run::flush_output() {
  const std::vector<OutputBuffer*> buffers = output_.buffers();
  const bool has_reader_gone = write_failure() != nullptr && write_failure()->error == EPIPE;
  const FlushEnd end = flush(buffers, signals_, requests_,
                             {.until = has_timed_out_ ? std::nullopt : timeout_at_,
                              .is_ended = has_timed_out_ || has_reader_gone || requests_.signal() != 0});
  look_at_output();
  const std::size_t lost = discard(buffers);
  if (lost == 0) return;
  is_output_lost_ = true;
  if (exit_code_ == 0) exit_code_ = end == FlushEnd::kTimeout ? kExitTimeout : 128 + requests_.signal();
  if (!command_.proxy)  // whose mpiexec says so
    say(fmt::format("{} bytes of output are lost: what reads it has stopped reading", lost));
}

void Run::tell_before_end(int why) {
  ends_by_ = why;
  if (gdb_.is_running() || !link_.ask()) return end_from_outside({});
  pass_on_news();
  ends_at_latest_ = Clock::now() + kLastAnswer;
}

void Run::end_from_outside(const std::string& where) {
  const int why = std::exchange(ends_by_, 0);
  ends_at_latest_.reset();
  if (why != SIGALRM) {
    where_it_ended_ = where;
    return supervisor_.signal(why);
  }
  say(fmt::format("the job has not ended within {} s (--timeout): ending it{}{}", command_.timeout_seconds,
                  where.empty() ? "" : "; where the ranks were:\n", where));
  exit_code_ = kExitTimeout;
  has_timed_out_ = true;
  running_ = 0;
  gdb_.end();
}

void Run::look_at_output() {
  const WriteFailure* const failed = write_failure();
  if (failed == nullptr) return;
  tell_of_lost_output({}, failed->error);
  if (failed->error != EPIPE) return;
  // What a process would have been ended by.
  if (exit_code_ == 0) exit_code_ = 128 + SIGPIPE;
  running_ = 0;
}

void Run::tell_of_lost_output(const std::string& subject, int error) {
  if (std::exchange(is_output_lost_, true)) return;
  say(fmt::format("{}cannot write its output: {}: what could not be written is lost",
                  subject.empty() ? subject : subject + on_host() + " ",
                  error != 0 ? std::strerror(error) : "an error that it has not told (is the disk full?)"));
}

void Run::ended(const Event& event) {
  --running_;
  read_packets();
  const int status = event.value;
  const int number = plan_.job.this_node().first + event.index;
  if (failure_ && (failure_->rank < 0 || plan_.job.process_of(failure_->rank) == number)) {
    has_core_ = WIFSIGNALED(status) && WCOREDUMP(status);
    limit_grace();
  }
  if (failure_ && exit_code_ == 0) exit_code_ = failure_code(*failure_);
  if (exit_code_ != 0) return;
  if (!successors_.has_settled()) {
    probe_.note_end(number);
    if (status == 0) others_.note_done(number);
    if (status == 0 && !is_alone()) look_at_state(number);
  }
  judge_end(process_of(event), status);
}

void Run::look_at_state(int number) {
  const pmi::HostState& state = memory().host(number);
  const pmi::HostProcess& process = job().processes[static_cast<std::size_t>(number)];
  if (state.owing != 0)
    return fail(process, pmi::Reason::kExited, 0,
                "before it called MPI_Finalize: every rank has to call it, unless one calls MPI_Abort");
  if (state.in_world >= process.ranks) return;
  miss(number);
  others_.note_absent(number);
}

void Run::judge_end(const pmi::HostProcess& process, int status) {
  if (status == 0) return;
  if (!WIFSIGNALED(status))
    return fail(process, pmi::Reason::kExited, WEXITSTATUS(status), why_not_loaded(WEXITSTATUS(status)));
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL && gdb_.is_running()) return;  // as the user wants
  fail(process, pmi::Reason::kSignal, signal,
       signal == SIGKILL ? "killed from outside; out of memory is the usual cause" : "");
  if (failure_) has_core_ = WCOREDUMP(status);
}

void Run::miss(int number) {
  if (number >= 0 && absent_ == nullptr) absent_ = &job().processes[static_cast<std::size_t>(number)];
}

bool Run::is_missed() const {
  if (successors_.are_waiting()) return true;
  const pmi::Node& node = job().this_node();
  for (int process = node.first; process < node.first + node.processes; ++process) {
    const pmi::HostState& state = memory().host(process);
    if (state.in_world != 0 && state.owing != 0) return true;
  }
  return false;
}

void Run::fail(const pmi::HostProcess& process, pmi::Reason reason, int code, std::string text) {
  pmi::Failure failure{.reason = reason, .code = code, .text = std::move(text)};
  if (process.ranks == 1 || !is_alone()) {
    failure.rank = job().first_rank(process);
    if (process.ranks > 1) failure.sharers = rank_list(job().ranks_of(process));
  }
  absent_ = nullptr;
  if (is_as_wanted(failure)) return end_as_wanted(failure);
  if (exit_code_ == 0) exit_code_ = failure_code(failure);
  if (!failure_) failure_ = std::move(failure);
  limit_grace();
}

void Run::end_as_wanted(const pmi::Failure& failure) {
  if (failure.reason == pmi::Reason::kSignal && failure.code == SIGPIPE)
    tell_of_lost_output(
        failure.rank < 0 ? "a rank" : fmt::format("rank {} of {}", failure.rank, job().ranks()), EPIPE);
  if (exit_code_ == 0) exit_code_ = failure_code(failure);
  limit_grace(requests_.signal() == 0 ? kGrace : kGraceToEnd);
}

bool Run::is_as_wanted(const pmi::Failure& failure) const {
  if (failure.reason == pmi::Reason::kExited) return requests_.signal() != 0 && failure.code != 0;
  return failure.reason == pmi::Reason::kSignal &&
         (failure.code == SIGPIPE || failure.code == requests_.signal());  // `mpiexec ... | head`
}

void Run::limit_grace(std::chrono::milliseconds grace) {
  if (gdb_.is_running()) return;  // the user looks at it
  const auto grace_ends = Clock::now() + grace;
  if (end_at_ && *end_at_ <= grace_ends) return;
  end_at_ = grace_ends;
  is_grace_ = true;
}

bool Run::waits_for_core() {
  const bool before = std::exchange(has_dumped_, supervisor_.is_dumping_core());
  if (before || has_dumped_) end_at_ = Clock::now() + (has_dumped_ ? kGrace : kEndOfDump);
  return before || has_dumped_;
}

bool Run::waits_for_supervisor() {
  if (exit_code_ != 0 || late_looks_ >= kMostLateLooks || !supervisor_.is_late()) return false;
  ++late_looks_;
  end_at_ = Clock::now() + kGrace;
  return true;
}

void Run::end_stuck() {
  is_stuck_ = true;
  exit_code_ = 1;
  limit_grace();
}

int Run::failure_code(const pmi::Failure& failure) {
  if (failure.reason == pmi::Reason::kSignal) return 128 + failure.code;
  if (failure.reason == pmi::Reason::kException) return 128 + SIGABRT;
  if (failure.reason == pmi::Reason::kAborted && failure.code == 0) return kExitAbortedWithZero;
  const int code = failure.code & 0xff;
  return code != 0 ? code : 1;
}

}  // namespace clump::mpiexec
