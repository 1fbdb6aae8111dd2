#include "run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "common/places.h"
#include "connection.h"
#include "diag/report.h"
#include "gdb_hosts.h"
#include "keeper.h"
#include "overview.h"
#include "pmi/control.h"
#include "pmi/node_memory.h"
#include "pmi/rank_variables.h"
#include "pmix_desk.h"
#include "rank_list.h"
#include "ranks_input.h"
#include "ranks_output.h"
#include "station.h"
#include "successors.h"
#include "thread_sanitizer.h"
#include "watch.h"

namespace clump::mpiexec {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr std::chrono::milliseconds kGraceToEnd{5000};  ///< the same, when a signal has asked all to end
constexpr std::chrono::milliseconds kGrace{500};        ///< for the others, when a plain process has failed
constexpr std::chrono::seconds kEndOfDump{10};          ///< its core file is written, and its memory goes
constexpr std::chrono::milliseconds kLook{50};  ///< so often, whether anybody misses those who have gone
constexpr std::chrono::milliseconds kSoon{1};   ///< and whether addresses that are wanted are told

void say(const std::string& text) {
  fmt::print(stderr, "mpiexec: {}{}", text, text.ends_with('\n') ? "" : "\n");
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

std::string get(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return {};
}

/// A running job, from start() to the exit code.
class Run {
 public:
  Run(const Command& command, const Plan& plan, Records& records)
      : command_(command),
        plan_(plan),
        records_(records),
        input_(plan.job),
        output_(plan.job, command.collapse && !command.agent) {}

  base::Status start() {
    sigset_t forwarded;
    sigemptyset(&forwarded);
    for (const int number : kForwarded) sigaddset(&forwarded, number);
    ::sigprocmask(SIG_BLOCK, &forwarded, nullptr);
    signals_ = ::signalfd(-1, &forwarded, SFD_CLOEXEC | SFD_NONBLOCK);
    if (command_.gdb) CLUMP_TRY(find_gdb());
    if (command_.timeout_seconds > 0) end_at_ = Clock::now() + std::chrono::seconds(command_.timeout_seconds);
    return start_processes();
  }

  int finish() {
    while ((running_ > 0 || gdb_.is_running()) && !keeper_gone_) wait_once();
    keeper_.stop();
    gdb_.end();
    output_.finish();
    read_packets();
    pass_on_news();
    if (failure_) say(diag::report(*failure_, plan_.job.ranks(), has_core_));
    if (records_.are_wanted()) records_.finish(plan_.job, exit_code_);
    if (has_other_hosts() && exit_code_ == 0 && !command_.gdb) desk_.wait_for_all();
    return exit_code_;
  }

 private:
  base::Status start_processes() {
    CLUMP_TRY(make_descriptors());
    std::vector<Process> processes;
    const pmi::Node& node = plan_.job.this_node();
    for (int number = node.first; number < node.first + node.processes; ++number)
      CLUMP_TRY(describe(number, processes.emplace_back()));
    if (!processes.empty()) processes.front().of_mpiexec = input_.pipes();
    running_ = static_cast<int>(processes.size());
    const base::Status started = keeper_.start(processes);
    for (const Process& process : processes) {
      for (const int given : {process.in, process.out, process.err})
        if (given >= 0) ::close(given);
    }
    for (const int given : {job_, theirs_}) ::close(given);
    input_.start();
    return started;
  }

  /// What all host processes get: see pmi/job.h, control.h and node_memory.h.
  base::Status make_descriptors() {
    const std::string bytes = pmi::encode(plan_.job);
    job_ = ::memfd_create("clump job", MFD_CLOEXEC);
    if (job_ < 0 || ::pwrite(job_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
      return base::fail(MPI_ERR_NO_MEM, "no memory for the description of the job: {}", std::strerror(errno));
    }
    int control[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) {
      return base::fail(MPI_ERR_OTHER, "cannot make a socket pair: {}", std::strerror(errno));
    }
    control_ = control[0];
    theirs_ = control[1];
    int line[2];  // the other end stays open in mpiexec and its keeper for as long as they live
    if (::pipe2(line, O_CLOEXEC) != 0)
      return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", std::strerror(errno));
    life_ = line[0];
    if (records_.are_wanted()) CLUMP_TRY(records_.begin(plan_.job));
    CLUMP_TRY(pmi::NodeMemory::make(plan_.job, node_));
    CLUMP_TRY(pmi::NodeMemory::map(plan_.job, node_, memory_));
    station_.begin(plan_.job, memory_);
    successors_.begin(plan_.job, memory_);
    if (!has_other_hosts()) watch_.emplace(plan_.job, command_.hang_after_seconds).admit(plan_.job.node);
    if (command_.agent) CLUMP_TRY(connect());
    return has_other_hosts() ? desk_.open(plan_.job, memory_) : base::Status{};
  }

  /// To mpiexec, which can ask who waits for whom if this succeeds.
  base::Status connect() {
    int socket = -1;
    const base::Status met = go_to_meeting(kOverviewVariable, "--hang-after needs", plan_.job.node, socket);
    if (!met.ok() && command_.hang_after_seconds > 0) return met;
    head_ = Connection(socket);
    return {};
  }

  // As they are now.
  const pmi::Job& job() const { return successors_.has_settled() ? successors_.job() : plan_.job; }
  const pmi::NodeMemory& memory() const { return successors_.has_settled() ? successors_.memory() : memory_; }

  /// There is one host process, and it is on this host.
  bool is_alone() const { return plan_.job.processes.size() == 1; }
  bool has_other_hosts() const { return plan_.job.nodes.size() > 1; }

  /// LD_PRELOAD of an app's processes: sanitizers, what stands before the C library and MPI, these of ours,
  /// the allocator that we have chosen (if any), the rest. What nobody but us has asked for is named once
  /// more, so that the process does not pass it on.
  base::Status set_preloads(std::size_t app, const std::string& allocator,
                            std::vector<std::string>& environment) const {
    std::vector<std::string> all = plan_.preload;
    const image::Preloads& preloads = plan_.preloads[app];
    all.insert(all.end(), preloads.own.begin(), preloads.own.end());
    const std::vector<std::string> asked = image::split_preloads(get(environment, "LD_PRELOAD"));
    std::vector<std::string> added = all;
    if (!allocator.empty()) added.push_back(allocator);
    std::erase_if(added,
                  [&](const std::string& one) { return std::ranges::find(asked, one) != asked.end(); });
    if (!added.empty()) set(environment, "CLUMP_PRELOADED", image::join_preloads(added));
    for (const char* name : {"libclump_host.so", "libmpi_abi.so.1"}) {
      all.push_back(tools::own_library(name));
      if (all.back().empty())
        return base::fail(MPI_ERR_OTHER, "{} is missing: it belongs into ../lib beside mpiexec", name);
    }
    if (!allocator.empty()) all.push_back(allocator);
    all.insert(all.end(), preloads.shared.begin(), preloads.shared.end());
    set(environment, "LD_PRELOAD", image::join_preloads(all));
    return {};
  }

  /// It finds no room for its tables where the kernel places libraries in too many ways (vm.mmap_rnd_bits).
  static void prepare_thread_sanitizer(Process& process) {
    process.same_addresses = true;
    int suppressions = -1;
    set(process.environment, "TSAN_OPTIONS",
        thread_sanitizer_options(get(process.environment, "TSAN_OPTIONS"), suppressions));
    if (suppressions >= 0) process.kept.push_back(suppressions);
  }

  base::Status describe(int number, Process& process) {
    const pmi::HostProcess& host = plan_.job.processes[static_cast<std::size_t>(number)];
    const int first = plan_.job.first_rank(host);
    const auto app_number = static_cast<std::size_t>(plan_.job.app_of(first));
    const pmi::App& app = plan_.job.apps[app_number];
    process = {app.program, app.arguments, pmi::environment_of_rank(plan_.job, first, app.environment),
               app.working_directory};
    process.cores = plan_.only_cores;
    if (host.plain && !is_alone()) process.cores = plan_.job.cores_of(first);
    process.same_addresses = plan_.job.seed.has_value();
    process.kept = {job_, theirs_, life_};
    if (is_thread_sanitizer(plan_.preload)) prepare_thread_sanitizer(process);
    CLUMP_TRY(set_preloads(app_number, host.plain ? plan_.allocator.plain_library : plan_.allocator.library,
                           process.environment));
    if (!host.plain) set(process.environment, "LD_BIND_NOW", "1");
    set(process.environment, "CLUMP_JOB_FD", std::to_string(job_));
    set(process.environment, "CLUMP_CONTROL_FD", std::to_string(theirs_));
    set(process.environment, "CLUMP_LIFE_FD", std::to_string(life_));
    set(process.environment, "CLUMP_PROCESS", std::to_string(number));
    process.kept.push_back(node_);
    set(process.environment, "CLUMP_NODE_FD", std::to_string(node_));
    if (records_.are_wanted()) {
      process.kept.push_back(records_.descriptor());
      set(process.environment, "CLUMP_RECORD_FD", std::to_string(records_.descriptor()));
    }
    if (command_.gdb) {
      set(process.environment, "CLUMP_GDB", "1");
      process.own_group = true;
    }
    if (command_.gdb)
      process.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // gdb reads mpiexec's
    else
      CLUMP_TRY(direct_input(number, process));
    for (const int target : {STDOUT_FILENO, STDERR_FILENO})
      CLUMP_TRY(output_.direct(host, target, target == STDOUT_FILENO ? process.out : process.err));
    return {};
  }

  base::Status direct_input(int number, Process& process) {
    std::vector<int> of_ranks;
    CLUMP_TRY(input_.direct(number, process.in, of_ranks));
    if (of_ranks.empty()) return {};
    process.kept.insert(process.kept.end(), of_ranks.begin(), of_ranks.end());
    std::string list;
    for (const int end : of_ranks) list += (list.empty() ? "" : ",") + std::to_string(end);
    set(process.environment, "CLUMP_INPUT_FDS", list);
    return {};
  }

  /// Waits for something to happen and deals with it.
  void wait_once() {
    std::vector<pollfd> all{
        {keeper_.descriptor(), POLLIN, 0}, {signals_, POLLIN, 0},          {control_, POLLIN, 0},
        {desk_.descriptor(), POLLIN, 0},   {gdb_.descriptor(), POLLIN, 0}, head_.events()};
    output_.add_to(all);
    const int ready = ::poll(all.data(), all.size(), milliseconds_left());
    if (ready < 0 && errno != EINTR) return;
    if (end_at_ && Clock::now() >= *end_at_) return end_now();
    if (taken_by_ && Clock::now() >= *taken_by_) look_who_blocks();
    if (all[2].revents != 0) read_packets();
    if (desk_.has_wanted()) desk_.look_again();
    if (all[3].revents != 0) miss(desk_.take_absent());
    read_signals();
    output_.pass_on();
    read_events();
    if (command_.gdb) look_after_gdb();
    look_who_waits();
    if (absent_ == nullptr) absent_ = successors_.missed();
    if (absent_ != nullptr && is_missed())
      fail(*absent_, pmi::Reason::kExited, 0, "without calling MPI_Init, and other ranks have called it");
  }

  int milliseconds_left() const {
    using std::chrono::milliseconds;
    std::optional<milliseconds> most;
    if (absent_ != nullptr || successors_.are_waiting() || (command_.gdb && !gdb_.has_started()))
      most = kLook;
    if (desk_.has_wanted()) most = kSoon;
    const auto watch_alarm = watch_ ? watch_->alarm() : std::nullopt;
    for (const auto& time : {end_at_, taken_by_, watch_alarm, station_.alarm(), output_.next()}) {
      if (!time) continue;
      const auto left = std::max(std::chrono::ceil<milliseconds>(*time - Clock::now()), milliseconds{0});
      most = most ? std::min(left, *most) : left;
    }
    return most ? static_cast<int>(most->count()) : -1;
  }

  /// An agent has gdbserver in its place.
  base::Status find_gdb() {
    if (!command_.agent) return gdb_.find("gdb");
    CLUMP_TRY(gdb_.find("gdbserver"));
    return meet_gdb(plan_.job.node, gdb_line_);
  }

  /// Starts it when all processes wait for it. Its end is the job's.
  void look_after_gdb() {
    if (gdb_.has_started()) {
      const std::optional<int> code = gdb_.take_end();
      if (!code) return;
      if (!command_.agent && exit_code_ == 0) exit_code_ = *code;
      running_ = 0;
      return;
    }
    const pmi::Node& node = plan_.job.this_node();
    std::vector<pid_t> processes;
    for (int number = node.first; number < node.first + node.processes; ++number)
      if (const pid_t waits = memory_.host(number).debuggee.load(std::memory_order_acquire); waits > 0)
        processes.push_back(waits);
    if (std::ssize(processes) < node.processes) return;
    const base::Status started = command_.agent ? serve_gdb(gdb_, std::move(gdb_line_), processes)
                                                : gdb_.debug({{processes}}, command_.gdb_commands);
    if (!started.ok()) {
      say(base::message_of(started.code()));
      exit_code_ = kExitCannotRun;
      running_ = 0;
    }
  }

  /// The time is up: of the user's --timeout, or of the grace after a failure.
  void end_now() {
    if (failure_ && waits_for_core()) return;
    if (failure_ && exit_code_ == 0) exit_code_ = failure_code(*failure_);
    if (interrupted_by_ != 0 && exit_code_ == 0) exit_code_ = 128 + interrupted_by_;
    if (exit_code_ == 0) {
      say(fmt::format("the job has not ended within {} s (--timeout): ending it", command_.timeout_seconds));
      exit_code_ = kExitTimeout;
    }
    running_ = 0;
    gdb_.end();
  }

  void read_packets() {
    while (control_ >= 0 && read_packet()) {
    }
  }

  /// A packet, and the socket that may come with it. As recv().
  ssize_t receive(std::string& packet, int& socket) const {
    packet.resize(64 << 10);
    iovec part{packet.data(), packet.size()};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof socket)];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    const ssize_t got = ::recvmsg(control_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    packet.resize(static_cast<std::size_t>(got));
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS)
      std::memcpy(&socket, CMSG_DATA(header), sizeof socket);
    return got;
  }

  /// The job goes on with programs that have replaced all of its ranks.
  void settle_successors() {
    const base::Status settled =
        successors_.settle(life_, records_.are_wanted() ? records_.descriptor() : -1);
    if (!settled.ok()) return successors_.refuse_all(base::message_of(settled.code()));
    station_ = {};
    station_.begin(job(), memory());
    if (watch_) watch_.emplace(job(), command_.hang_after_seconds).admit(job().node);
  }

  /// The program that has replaced a rank before it called MPI has ended, and the process that the rank was
  /// in goes on.
  void successor_ended(const pmi::SuccessorNote& note) {
    if (exit_code_ != 0) return;
    const pmi::HostProcess alone{job().seating.seat_of(note.rank), 1, true};
    if (!successors_.has_settled()) {
      if (note.status == 0) successors_.note_end(note.rank);
      return judge_end(alone, note.status);
    }
    const int number = job().process_of(note.rank);
    station_.note_end(number);
    if (note.status == 0) look_at_state(number);
    judge_end(alone, note.status);
  }

  /// What a host process says (pmi/control.h); false if there is nothing now.
  bool read_packet() {
    std::string packet;
    int socket = -1;
    const ssize_t got = receive(packet, socket);
    if (got == 0) ::close(std::exchange(control_, -1));
    if (got <= 0) return false;
    pmi::Failure failure;
    if (pmi::JoinNote join; socket >= 0 && pmi::decode(packet, join)) {
      if (successors_.take(join, socket)) settle_successors();
    } else if (pmi::SuccessorNote end; pmi::decode(packet, end)) {
      successor_ended(end);
    } else if (pmi::AddressNote address; pmi::decode(packet, address)) {
      desk_.note_address(address.process);
    } else if (pmi::DoneNote done; pmi::decode(packet, done)) {
      desk_.note_end(done.process);
      station_.note_done();
    } else if (pmi::AccountNote note; pmi::decode(packet, note)) {
      station_.take(note);
    } else if (pmi::RestNote rest; pmi::decode(packet, rest)) {
      station_.take(rest);
    } else if (!failure_ && !is_stuck_ && pmi::decode(packet, failure)) {
      if (is_as_wanted(failure)) {
        if (exit_code_ == 0) exit_code_ = failure_code(failure);
        continue_or_end();
        return true;
      }
      failure_ = std::move(failure);
      if (failure_->reason == pmi::Reason::kDeadlock) tell_of_own_deadlock();
      limit_grace();  // the process ends by itself, unless its heap is broken and it hangs
    }
    return true;
  }

  void read_signals() {
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int number = static_cast<int>(info.ssi_signo);
      const bool from_terminal = info.ssi_code > 0;  // then the job's processes got it as well
      if (from_terminal && gdb_.is_running() && number != SIGHUP) continue;  // it is gdb's
      const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP;
      if (ends && (interrupted_by_ != 0 || exit_code_ != 0)) {
        if (exit_code_ == 0) exit_code_ = 128 + number;
        keeper_.signal(SIGKILL);  // asked a second time
        continue;
      }
      if (!from_terminal || number == SIGQUIT) pass_on(number);
      if (ends) {
        interrupted_by_ = number;  // ranks that handle it may come to a good end
        taken_by_ = Clock::now() + kGraceToEnd;
        if (command_.agent) limit_grace();  // the others are ended, too
      }
      if (number == SIGTSTP) ::raise(SIGSTOP);
    }
  }

  /// A rank that handles the signal may take its time. One that does not even take it would never end.
  void look_who_blocks() {
    taken_by_.reset();
    if (exit_code_ != 0 || !keeper_.has_pending(interrupted_by_)) return;
    say(fmt::format(
        "a rank has not taken SIG{} for {} s, because all of its threads block it: killing the job",
        ::sigabbrev_np(interrupted_by_), kGraceToEnd / std::chrono::seconds(1)));
    exit_code_ = 128 + interrupted_by_;
    keeper_.signal(SIGKILL);
  }

  void pass_on(int signal) {
    if (signal != SIGQUIT) return keeper_.signal(signal);
    if (watch_) watch_->ask();
  }

  void read_events() {
    Event event;
    while (keeper_.next(event, keeper_gone_)) {
      if (event.kind == Event::Kind::kCannotStart) {
        cannot_start(event);
      } else if (event.kind == Event::Kind::kEnded) {
        ended(event);
      }
    }
    if (keeper_gone_ && exit_code_ == 0) {
      say("the process that keeps the job together was killed");
      exit_code_ = 128 + SIGKILL;
    }
  }

  const pmi::HostProcess& process_of(const Event& event) const {
    return plan_.job.processes[static_cast<std::size_t>(plan_.job.this_node().first + event.index)];
  }

  void cannot_start(const Event& event) {
    const pmi::App& app =
        plan_.job.apps[static_cast<std::size_t>(plan_.job.app_of(plan_.job.first_rank(process_of(event))))];
    if (exit_code_ == 0) say(fmt::format("cannot start {}: {}", app.program, std::strerror(event.value)));
    exit_code_ = kExitCannotRun;
    running_ = 0;
  }

  void ended(const Event& event) {
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
      station_.note_end(number);
      if (has_other_hosts() && status == 0) desk_.note_end(number);
      if (status == 0 && !is_alone()) look_at_state(number);
    }
    judge_end(process_of(event), status);
  }

  /// A host process has ended in order, as far as the system knows.
  void look_at_state(int number) {
    const pmi::HostState& state = memory().host(number);
    const pmi::HostProcess& process = job().processes[static_cast<std::size_t>(number)];
    if (state.owing != 0) return fail(process, pmi::Reason::kExited, 0, "before it called MPI_Finalize");
    if (state.in_world >= process.ranks) return;
    miss(number);
    if (has_other_hosts()) desk_.note_absent(number);
  }

  /// By its status of waitpid().
  void judge_end(const pmi::HostProcess& process, int status) {
    if (status == 0) return;
    if (!WIFSIGNALED(status)) return fail(process, pmi::Reason::kExited, WEXITSTATUS(status), {});
    const int signal = WTERMSIG(status);
    if (signal == SIGKILL && gdb_.is_running()) return;  // as the user wants
    fail(process, pmi::Reason::kSignal, signal,
         signal == SIGKILL ? "killed from outside; out of memory is the usual cause" : "");
    if (failure_) has_core_ = WCOREDUMP(status);
  }

  /// A host process, of any node, has ended in order without MPI; -1: none has.
  void miss(int number) {
    if (number >= 0 && absent_ == nullptr) absent_ = &job().processes[static_cast<std::size_t>(number)];
  }

  /// Others will wait for ever for a process that has ended without MPI.
  bool is_missed() const {
    if (successors_.are_waiting()) return true;
    const pmi::Node& node = job().this_node();
    for (int process = node.first; process < node.first + node.processes; ++process) {
      const pmi::HostState& state = memory().host(process);
      if (state.in_world != 0 && state.owing != 0) return true;
    }
    return false;
  }

  /// A host process has failed and has not told so itself.
  void fail(const pmi::HostProcess& process, pmi::Reason reason, int code, std::string text) {
    pmi::Failure failure{.reason = reason, .code = code, .text = std::move(text)};
    if (process.ranks == 1 || !is_alone()) {
      failure.rank = job().first_rank(process);
      if (process.ranks > 1) failure.sharers = rank_list(job().ranks_of(process));
    }
    absent_ = nullptr;
    if (exit_code_ == 0) exit_code_ = failure_code(failure);
    if (is_as_wanted(failure)) return continue_or_end();
    if (!failure_) failure_ = std::move(failure);
    limit_grace();
  }

  /// A rank has come to the end that the user wants. The others, which may handle the signal, have some time
  /// for their own, and no more, as they may wait for this rank.
  void continue_or_end() { limit_grace(interrupted_by_ == 0 ? kGrace : kGraceToEnd); }

  /// A rank has ended by a signal that the user has sent to all, or knows of, and needs not be told of it.
  bool is_as_wanted(const pmi::Failure& failure) const {
    if (failure.reason == pmi::Reason::kExited) return interrupted_by_ != 0 && failure.code != 0;
    return failure.reason == pmi::Reason::kSignal &&
           (failure.code == SIGPIPE || failure.code == interrupted_by_);  // `mpiexec ... | head`
  }

  void limit_grace(std::chrono::milliseconds grace = kGrace) {
    if (gdb_.is_running()) return;  // the user looks at it
    const auto grace_ends = Clock::now() + grace;
    end_at_ = end_at_ ? std::min(*end_at_, grace_ends) : grace_ends;
  }

  /// A process whose core file is being written, or was just now, ends by itself.
  bool waits_for_core() {
    const bool before = std::exchange(has_dumped_, keeper_.is_dumping_core());
    if (before || has_dumped_) end_at_ = Clock::now() + (has_dumped_ ? kGrace : kEndOfDump);
    return before || has_dumped_;
  }

  void look_who_waits() {
    pass_on_news();
    if (!watch_) return;
    std::string text;
    const Watch::Finding found = watch_->poll(text);
    pass_on_news();
    if (found == Watch::Finding::kAsked) return say("where the ranks are:\n" + text);
    if (found == Watch::Finding::kNothing || failure_ || exit_code_ != 0) return;
    failure_ = stuck(found, command_.hang_after_seconds, text);
    end_stuck();
  }

  /// What mpiexec wants to know, which an agent's is on another host, and what there is to be told.
  void pass_on_news() {
    Report report;
    Order order;
    head_.transfer();
    for (std::string message; head_.receive(message);)
      if (decode(message, order)) obey(order);
    for (bool any = true; std::exchange(any, false);) {
      for (; watch_ && watch_->next(order); any = true) station_.obey(order);
      for (; station_.next(report); any = true) {
        if (watch_)
          watch_->take(job().node, std::move(report));
        else
          head_.send(encode(report));
      }
    }
  }

  void obey(const Order& order) {
    if (order.kind == Order::Kind::kSignal) return pass_on(static_cast<int>(order.number));
    if (order.kind == Order::Kind::kEnd && exit_code_ == 0 && !failure_) return end_stuck();
    station_.obey(order);
  }

  /// A job of one process knows by itself, and has told what all wait for.
  void tell_of_own_deadlock() {
    pass_on_news();
    failure_->text = kDeadlocked + watch_->text(true);
  }

  /// All ranks wait for each other, which is said by whoever has found it.
  void end_stuck() {
    is_stuck_ = true;
    exit_code_ = 1;
    station_.end_all();
    limit_grace();
  }

  static int failure_code(const pmi::Failure& failure) {
    if (failure.reason == pmi::Reason::kSignal) return 128 + failure.code;
    if (failure.reason == pmi::Reason::kException) return 128 + SIGABRT;
    const int code = failure.code & 0xff;
    return code != 0 ? code : 1;
  }

  const Command& command_;
  const Plan& plan_;
  Records& records_;
  RanksInput input_;
  Keeper keeper_;
  bool keeper_gone_ = false;
  int signals_ = -1;
  int control_ = -1;
  int job_ = -1, theirs_ = -1, life_ = -1;  ///< what the processes get
  int node_ = -1;                           ///< the same
  pmi::NodeMemory memory_;                  ///< of `node_`
  Station station_;
  Successors successors_;
  std::optional<Watch> watch_;  ///< not an agent's
  Connection head_;             ///< only an agent's: to mpiexec
  Gdb gdb_;                     ///< only with --gdb
  Connection gdb_line_;         ///< only an agent's: its gdbserver's
  PmixDesk desk_;               ///< only an agent's
  int running_ = 0;             ///< processes that have not ended
  RanksOutput output_;
  const pmi::HostProcess* absent_ = nullptr;  ///< has ended in order; a rank of it never called MPI_Init
  std::optional<Clock::time_point> end_at_;
  std::optional<Clock::time_point>
      taken_by_;  ///< then the ranks must have taken the signal that asks for the end
  std::optional<pmi::Failure> failure_;
  bool has_dumped_ = false;  ///< when end_at_ was over last, a core file was being written
  bool has_core_ = false;    ///< the system has written a core file of the process that has failed
  bool is_stuck_ = false;
  int interrupted_by_ = 0;  ///< a signal that asks for the end of the job; 0: none has come
  int exit_code_ = 0;
};

}  // namespace

int run(const Command& command, const Plan& plan, Records& records) {
  Run job(command, plan, records);
  base::Status status = tools::check_limits(needs_of(plan), plan.job.ranks(plan.job.this_node()));
  if (status.ok()) status = RanksOutput::make_files(plan.job);
  if (status.ok()) status = job.start();
  if (!status.ok()) {
    say(base::message_of(status.code()));
    return kExitCannotRun;
  }
  return job.finish();
}

}  // namespace clump::mpiexec
