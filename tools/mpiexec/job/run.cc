#include "job/run.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/why_refused.h"
#include "common/limits.h"
#include "common/poll_set.h"
#include "diag/report.h"
#include "gdb/gdb_hosts.h"
#include "job/describe.h"
#include "job/run_state.h"
#include "output/output_buffer.h"
#include "pmi/job_file.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kLook{50};  ///< so often, whether anybody misses those who have gone

/// Tells a plain process what its stdout and stderr are, which a shell in between may change.
void name_output(Process& process) {
  struct stat info {};
  if (::fstat(process.out >= 0 ? process.out : STDOUT_FILENO, &info) == 0)
    set(process.environment, "CLUMP_STDOUT", pmi::name_of_file(info));
  if (::fstat(process.err >= 0 ? process.err : STDERR_FILENO, &info) == 0)
    set(process.environment, "CLUMP_STDERR", pmi::name_of_file(info));
}

/// Of the mpiexec of a job of one host.
class OwnLink : public ControlLink {
 public:
  explicit OwnLink(int hang_after) : hang_after_(hang_after) {}

  void begin(const pmi::Job& job) override { detector_.emplace(job, hang_after_).admit(job.node); }
  std::optional<HangDetector::Clock::time_point> alarm() const override { return detector_->alarm(); }
  void send(ControlReply reply) override {
    if (reply.kind == ControlReply::Kind::kTrouble) return say(reply.bytes);
    detector_->take(0, std::move(reply));
  }
  bool next(ControlMessage& message) override { return detector_->next(message); }
  bool ask() override { return detector_->ask(), true; }
  HangDetector::Finding poll(std::string& text) override { return detector_->poll(text); }
  std::string text() const override { return detector_->text(false); }

 private:
  const int hang_after_;
  std::optional<HangDetector> detector_;
};

}  // namespace

base::Status Run::start() {
  signals_.begin(kOfUser);
  block_signals_of_writes();
  if (command_.gdb) CLUMP_TRY(gdb_.find(command_.proxy ? "gdbserver" : "gdb"));
  if (command_.timeout_seconds > 0)
    end_at_ = timeout_at_ = Clock::now() + std::chrono::seconds(command_.timeout_seconds);
  return start_processes();
}

int Run::finish() {
  while ((running_ > 0 || gdb_.is_running()) && !supervisor_gone_) wait_once();
  end_processes();
  gdb_.end();
  output_.finish();
  read_packets();
  pass_on_news();
  if (is_stuck_) look_who_waits();  // a process that has found so itself may have ended at once
  std::string why;
  if (failure_) why = diag::report(*failure_, plan_.job.ranks(), on_host(failure_->rank), has_core_);
  // mpiexec says of several hosts which has failed first.
  if (failure_ && !command_.proxy) say(why);
  // Ranks that handle the signal come to an end of their own, of which there is nothing to say.
  if (!failure_ && exit_code_ != 0 && !where_it_ended_.empty())
    say(fmt::format("the job was ended by {}; where the ranks were:\n{}",
                    diag::signal_name(requests_.signal()), where_it_ended_));
  look_at_output();
  if (records_.are_wanted() && !records_.finish(plan_.job, exit_code_)) is_output_lost_ = true;
  // The mpiexec of a proxy waits for what has been written, and decides for how long.
  tell_code(ControlReply::Kind::kEnded, std::move(why));
  flush_output();
  return code();
}

void Run::tell(ControlReply::Kind kind, int code, std::string text) {
  link_.send({.kind = kind, .number = static_cast<std::uint32_t>(code), .bytes = std::move(text)});
}

void Run::tell_code(ControlReply::Kind kind, std::string why) {
  using Cause = ControlReply::Cause;
  Cause cause = Cause::kOwn;
  if (failure_)
    cause = failure_->reason == pmi::Reason::kUnreachable ? Cause::kUnreachable : Cause::kOwn;
  else if (requests_.signal() != 0 || own_code() == 0)
    cause = Cause::kElsewhere;
  link_.send(
      {.kind = kind,
       .number = static_cast<std::uint32_t>(own_code() != 0 || !failure_ ? code() : failure_code(*failure_)),
       .cause = cause,
       .bytes = std::move(why)});
}

int Run::refuse(const base::Status& status) {
  has_timed_out_ = true;
  tell(ControlReply::Kind::kTrouble, kExitCannotRun, base::message_of(status.code()));
  flush_output();
  return kExitCannotRun;
}

base::Status Run::start_processes() {
  CLUMP_TRY(make_descriptors());
  std::vector<Process> processes;
  const pmi::Node& node = plan_.job.this_node();
  for (int number = node.first; number < node.first + node.processes; ++number)
    CLUMP_TRY(describe_with_streams(number, processes.emplace_back()));
  if (!processes.empty()) {
    processes.front().of_mpiexec = input_.own();
    std::ranges::copy(link_.own, std::back_inserter(processes.front().of_mpiexec));
  }
  running_ = static_cast<int>(processes.size());
  const base::Status started = supervisor_.start(processes);
  for (const int given : {job_, theirs_}) ::close(given);
  input_.start();
  return started;
}

base::Status Run::make_descriptors() {
  CLUMP_TRY(pmi::write_job(plan_.job, job_));
  int control[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) {
    return base::fail(MPI_ERR_OTHER, "cannot make a socket pair: {}", base::why_refused("socketpair", errno));
  }
  control_ = control[0];
  theirs_ = control[1];
  int line[2];  // the other end stays open in mpiexec and its supervisor for as long as they live
  if (::pipe2(line, O_CLOEXEC) != 0)
    return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
  life_ = line[0];
  if (records_.are_wanted()) CLUMP_TRY(records_.begin(plan_.job));
  CLUMP_TRY(pmi::NodeMemory::make(plan_.job, node_));
  CLUMP_TRY(pmi::NodeMemory::map(plan_.job, node_, memory_));
  probe_.begin(plan_.job, memory_, [this](int process) { return state_of_silent(process); });
  successors_.begin(plan_.job, memory_);
  link_.begin(plan_.job);
  others_.begin(plan_.job, memory_, link_);
  return {};
}

base::Status Run::describe_with_streams(int number, Process& process) {
  const pmi::HostProcess& host = plan_.job.processes[static_cast<std::size_t>(number)];
  CLUMP_TRY(describe(command_, plan_,
                     {job_, theirs_, life_, node_, records_.are_wanted() ? records_.descriptor() : -1},
                     preload_names_, number, process));
  if (command_.gdb)
    process.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // gdb reads mpiexec's
  else
    CLUMP_TRY(direct_input(number, process));
  for (const int target : {STDOUT_FILENO, STDERR_FILENO})
    CLUMP_TRY(output_.direct(host, target, target == STDOUT_FILENO ? process.out : process.err));
  if (host.plain) name_output(process);
  return {};
}

base::Status Run::direct_input(int number, Process& process) {
  std::vector<int> of_ranks;
  CLUMP_TRY(input_.direct(number, process.in, of_ranks));
  if (of_ranks.empty()) return {};
  process.kept.insert(process.kept.end(), of_ranks.begin(), of_ranks.end());
  std::string list;
  for (const int end : of_ranks) list += (list.empty() ? "" : ",") + std::to_string(end);
  set(process.environment, "CLUMP_INPUT_FDS", list);
  return {};
}

void Run::wait_once() {
  tools::PollSet all;
  for (const int one : {supervisor_.descriptor(), signals_.descriptor(), control_, gdb_.descriptor()})
    all.add(one);
  link_.add_to(all);
  spawns_.add_to(all);
  output_.add_to(all);
  all.wait(milliseconds_left());
  if (all.failed()) return;
  if (end_at_ && Clock::now() >= *end_at_) return end_now();
  if (taken_by_ && Clock::now() >= *taken_by_) look_who_blocks();
  if (all.is_ready(control_)) read_packets();
  read_signals();
  output_.pass_on();
  look_at_output();
  read_events();
  if (command_.gdb) look_after_gdb();
  look_who_waits();
  if (absent_ == nullptr) absent_ = successors_.missed();
  if (absent_ != nullptr && is_missed())
    fail(*absent_, pmi::Reason::kExited, 0,
         "without calling MPI_Init, and other ranks have called it: all ranks of a job have to, or none");
}

int Run::milliseconds_left() const {
  using std::chrono::milliseconds;
  std::optional<milliseconds> most;
  if (absent_ != nullptr || successors_.are_waiting() || (command_.gdb && !gdb_.has_started())) most = kLook;
  if (signals_.descriptor() < 0) most = SignalLine::kPause;
  for (const auto& time :
       {end_at_, taken_by_, ends_at_latest_, link_.alarm(), probe_.alarm(), output_.next()}) {
    if (!time) continue;
    const auto left = std::max(std::chrono::ceil<milliseconds>(*time - Clock::now()), milliseconds{0});
    most = most ? std::min(left, *most) : left;
  }
  return tools::poll_timeout(most);
}

void Run::look_after_gdb() {
  if (gdb_.has_started()) {
    const std::optional<int> code = gdb_.take_end();
    if (!code) return;
    if (!command_.proxy && exit_code_ == 0) exit_code_ = *code;
    running_ = 0;
    return;
  }
  const pmi::Node& node = plan_.job.this_node();
  std::vector<pid_t> processes;
  for (int number = node.first; number < node.first + node.processes; ++number)
    if (const pid_t waits = memory_.host(number).debuggee.load(std::memory_order_acquire); waits > 0)
      processes.push_back(waits);
  if (std::ssize(processes) < node.processes) return;
  const base::Status started = command_.proxy
                                   ? serve_gdb(gdb_, Connection(std::exchange(link_.gdb, -1)), processes)
                                   : gdb_.debug({{processes}}, command_.gdb_commands);
  if (!started.ok()) {
    say(base::message_of(started.code()));
    exit_code_ = kExitCannotRun;
    running_ = 0;
  }
}

void Run::read_events() {
  Event event;
  while (supervisor_.next(event, supervisor_gone_)) {
    if (event.kind == Event::Kind::kCannotStart || event.kind == Event::Kind::kCannotEnter) {
      cannot_start(event);
    } else if (event.kind == Event::Kind::kEnded) {
      ended(event);
    }
  }
  if (supervisor_gone_ && exit_code_ == 0) {
    say(fmt::format("the process that keeps the job together{} was killed", on_host()));
    exit_code_ = 128 + SIGKILL;
  }
}

std::string Run::on_host(int rank) const {
  if (!command_.proxy) return {};
  const bool is_known = rank >= 0 && rank < plan_.job.ranks();  // it may have been spawned, on this host
  const int node = is_known ? plan_.job.node_of(rank) : plan_.job.node;
  return " on " + plan_.job.nodes[static_cast<std::size_t>(node)].name;
}

const pmi::HostProcess& Run::process_of(const Event& event) const {
  return plan_.job.processes[static_cast<std::size_t>(plan_.job.this_node().first + event.index)];
}

void Run::cannot_start(const Event& event) {
  const pmi::App& app =
      plan_.job.apps[static_cast<std::size_t>(plan_.job.app_of(plan_.job.first_rank(process_of(event))))];
  const std::string where = command_.proxy ? plan_.job.this_node().name + ": " : std::string();
  const std::string what = event.kind == Event::Kind::kCannotEnter
                               ? fmt::format("working directory '{}'", app.working_directory)
                               : fmt::format("cannot start {}", app.program);
  const bool is_limit = event.value == EAGAIN || event.value == ENOMEM || event.value == EMFILE;
  if (exit_code_ == 0)
    say(fmt::format("{}{}: {}", where, what,
                    is_limit ? base::why_refused("fork", event.value) : std::strerror(event.value)));
  exit_code_ = kExitCannotRun;
  running_ = 0;
}

int run(const Command& command, const Plan& plan, Records& records) {
  OwnLink link(command.hang_after_seconds);
  return run(command, plan, records, link);
}

int run(const Command& command, const Plan& plan, Records& records, ControlLink& link) {
  Run job(command, plan, records, link);
  base::Status status = tools::check_limits(needs_of(plan), plan.job.ranks(plan.job.this_node()));
  if (status.ok()) status = RanksOutput::make_files(plan.job);
  if (status.ok()) status = job.start();
  return status.ok() ? job.finish() : job.refuse(status);
}

}  // namespace clump::mpiexec
