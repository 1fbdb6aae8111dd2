#include "cluster/prterun_driver.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/why_refused.h"
#include "cluster/acceptor.h"
#include "cluster/control_server.h"
#include "cluster/ending.h"
#include "cluster/hosts_input.h"
#include "cluster/prterun_environment.h"
#include "cluster/prterun_output_filter.h"
#include "cluster/tcp_user_timeout.h"
#include "command/exit_codes.h"
#include "common/poll_set.h"
#include "diag/report.h"
#include "gdb/gdb_hosts.h"
#include "job/end_requests.h"
#include "job/records.h"
#include "job/signal_line.h"
#include "job/supervisor.h"
#include "output/collapse.h"
#include "output/flush.h"
#include "output/held_output.h"
#include "output/lines.h"
#include "output/output_buffer.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr std::chrono::milliseconds kEndOfDaemons{1000};  ///< until what prterun has started here has ended
constexpr std::size_t kMostErrorsInATurn = 1 << 20;       ///< bytes: ranks may write to stderr without end
constexpr int kLook = 20;  ///< milliseconds; so often, whether a collapsed line has waited long enough

class PrterunDriver {
 public:
  explicit PrterunDriver(const Launch& launch)
      : launch_(launch),
        filter_(launch.token, launch.hosts),
        control_(launch.control),
        ending_(launch.timeout_seconds) {
    if (launch.timeout_seconds > 0)
      timeout_at_ = Ending::Clock::now() + std::chrono::seconds(launch.timeout_seconds);
    if (launch.collapsed == 0) return;
    screen_.emplace(launch.collapsed);
    out_lines_.emplace(LineTarget{STDOUT_FILENO, &*screen_}, "");
    output_.write_to(*out_lines_);
  }

  base::Status start() {
    signals_.begin(kHandled);
    block_signals_of_writes();
    int errors[2], output[2];
    if (::pipe2(errors, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0)
      return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
    errors_ = errors[0];
    for (const int end : {errors_, output[0]}) ::fcntl(end, F_SETFL, O_NONBLOCK);
    output_.read_from(output[0]);
    const base::Status started = start_prterun(output, errors);
    for (const int end : {errors[1], output[1]}) ::close(end);
    return started;
  }

  int finish() {
    while (!has_ended()) {
      tools::PollSet all;
      for (const int one : {signals_.descriptor(), errors_, supervisor_.descriptor()}) all.add(one);
      output_.add_to(all);
      for (const OutputBuffer* const buffer : buffers_) buffer->add_to(all);
      launch_.acceptor.add_to(all);
      control_.add_to(all);
      if (launch_.gdb != nullptr) launch_.gdb->add_to(all);
      all.wait(screen_ ? std::min(kLook, milliseconds_left()) : milliseconds_left());
      if (prterun_ > 0) user_timeout_.apply_to(prterun_);
      read_signals();
      read_errors();
      pass_on_output();
      if (screen_) screen_->show();
      if (ending_.has_begun() || std::ranges::any_of(filter_.ends(), has_come)) control_.note_end();
      launch_.acceptor.accept(
          [this](Stream stream, std::size_t host, int socket) { admit(stream, host, socket); });
      is_stuck_ = control_.poll() || is_stuck_;
      if (ending_.is_timeout()) end_job(SIGALRM);
      take_steps();
      if (launch_.gdb != nullptr) look_after_gdb(*launch_.gdb);
    }
    supervisor_.stop();
    if (launch_.gdb != nullptr) launch_.gdb->end();
    read_errors();  // daemons may keep the pipe open: what is in it is all that is waited for
    pass_on_output();
    output_.finish();
    show(filter_.finish());
    if (out_lines_) out_lines_->finish();
    if (screen_) screen_->show_all();
    int code = report(WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_));
    if (launch_.records.are_wanted() && !launch_.records.finish_collecting(launch_.job, code) && code == 0)
      code = kExitOutput;
    return flush_output(code);
  }

 private:
  /// Waits for slow readers. Returns the exit code, which was `code` before.
  int flush_output(int code) {
    const FlushEnd end =
        flush(buffers_, signals_, requests_, {.until = timeout_at_, .is_ended = ending_.has_begun()});
    const std::size_t lost = discard(buffers_);
    if (lost > 0)
      write_error(
          fmt::format("mpiexec: {} bytes of output are lost: what reads it has stopped reading\n", lost));
    const int error = is_output_lost_ ? 0 : HeldOutput::error();
    tell_of_lost_output();
    if (code != 0 || (lost == 0 && error == 0)) return code;
    if (error == EPIPE) return 128 + SIGPIPE;
    if (end == FlushEnd::kTimeout) return kExitTimeout;
    return lost > 0 && requests_.signal() != 0 ? 128 + requests_.signal() : kExitOutput;
  }

  /// The proxy of a host has opened a connection.
  void admit(Stream stream, std::size_t host, int socket) {
    switch (stream) {
      case Stream::kControl:
        return control_.admit(host, socket);
      case Stream::kInput:
        return launch_.input.admit(socket);
      case Stream::kRecords:
        if (launch_.records.are_wanted()) return launch_.records.admit(host, socket);
        break;
      case Stream::kGdb:
        if (launch_.gdb != nullptr) return launch_.gdb->admit(host, socket);
        break;
    }
    ::close(socket);
  }

  static bool has_come(HostStatus end) { return end != HostStatus::kUnknown; }

  int milliseconds_left() const {
    using std::chrono::milliseconds;
    milliseconds most{TcpUserTimeout::kMilliseconds};
    for (const auto& alarm : {control_.alarm(), ending_.alarm()})
      if (alarm)
        most = std::clamp(std::chrono::ceil<milliseconds>(*alarm - std::chrono::steady_clock::now()),
                          milliseconds{0}, most);
    return static_cast<int>(most.count());
  }

  void look_after_gdb(GdbHosts& gdb) {
    const base::Status started = gdb.poll();
    if (started.ok()) return;
    show(fmt::format("mpiexec: {}\n", base::message_of(started.code())));
    ending_.begin(SIGTERM, {});
  }

  base::Status start_prterun(const int (&output)[2], const int (&errors)[2]) {
    Process prterun{launch_.arguments.front(), launch_.arguments, launch_.environment, {}};
    prterun.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // standard input goes another way
    prterun.out = output[1];
    prterun.err = errors[1];
    prterun.folder = {launch_.folder, 0};
    prterun.grace = kEndOfDaemons;
    prterun.own_group = true;  // what a terminal sends is for mpiexec, which passes it on
    prterun.of_mpiexec = launch_.acceptor.sockets();
    prterun.of_mpiexec.insert(prterun.of_mpiexec.end(), {errors[0], output[0]});
    const base::Status started = supervisor_.start({prterun});
    ::close(prterun.in);
    return started;
  }

  bool has_ended() {
    Event event;
    bool supervisor_gone = false;
    while (supervisor_.next(event, supervisor_gone)) {
      if (event.kind == Event::Kind::kStarted) {
        prterun_ = event.value;
        continue;
      }
      status_ = event.value;
      if (event.kind == Event::Kind::kCannotStart) cannot_start_ = event.value;
      return true;
    }
    if (supervisor_gone) show("mpiexec: the process that keeps the job together was killed\n");
    if (supervisor_gone) status_ = SIGKILL;
    return supervisor_gone;
  }

  /// prterun's code is no proof: it may end with 0 where it has lost a host.
  int report(int code) const {
    if (cannot_start_ != 0) {
      write_error(fmt::format("mpiexec: cannot start {}: {}\n", launch_.arguments.front(),
                              std::strerror(cannot_start_)));
      return kExitCannotRun;
    }
    if (is_stuck_) return 1;  // which was said
    if (HeldOutput::error() == EPIPE) return 128 + SIGPIPE;
    if (ending_.has_begun()) return report_ending();
    if (filter_.troubles().any()) {
      write_error(filter_.troubles().text());
      return filter_.troubles().code();
    }
    const auto& ends = filter_.ends();
    const bool all_done = std::ranges::all_of(ends, [](HostStatus end) { return end == HostStatus::kDone; });
    if (code == 0 && all_done && is_output_lost_) return kExitOutput;
    if (code == 0 && all_done) return launch_.gdb != nullptr ? launch_.gdb->code() : 0;
    if (std::ranges::find(ends, HostStatus::kFailed) != ends.end()) return code != 0 ? code : 1;
    write_error(output_.unreleased());
    if (WIFSIGNALED(status_)) {
      write_error(fmt::format("mpiexec: prterun, which starts the job on its hosts, was ended by {}\n",
                              diag::signal_name(WTERMSIG(status_))));
      return code;
    }
    if (const std::string missing = filter_.missing(); !missing.empty())
      write_error(fmt::format("mpiexec: {}\n", missing));
    if (const std::string settings = prrte_settings(launch_.environment);
        !control_.has_begun() && !settings.empty())
      write_error(fmt::format(
          "mpiexec: prterun was given {} by the environment: unset what is left over from another job\n",
          settings));
    return code != 0 ? code : 1;
  }

  /// By the time it is ended from outside, ranks that handle the signal may have come to a good end.
  int report_ending() const {
    if (ending_.why() == SIGALRM) return kExitTimeout;
    const auto& ends = filter_.ends();
    if (std::ranges::all_of(ends, [](HostStatus end) { return end == HostStatus::kDone; })) return 0;
    if (ending_.why() != SIGTERM || !proxy_has_told())
      write_error(fmt::format("mpiexec: the job was ended by {}{}{}\n", diag::signal_name(ending_.why()),
                              where_.empty() ? "" : "; where the ranks were:\n", where_));
    return filter_.code() != 0 ? filter_.code() : 128 + ending_.why();
  }

  void read_signals() {
    siginfo_t info;
    while (signals_.next(info)) {
      const int number = info.si_signo;
      const bool typed = info.si_code > 0;
      if (typed && launch_.gdb != nullptr && launch_.gdb->is_running() && number != SIGHUP)
        continue;  // gdb's
      if (number == SIGQUIT)
        control_.ask();
      else if (EndRequests::ends_job(number))
        ask_for_end(number, typed);
      else
        control_.pass_on(number);
      if (number == SIGTSTP) ::raise(SIGSTOP);
    }
  }

  void ask_for_end(int number, bool is_typed) {
    if (requests_.take(number, is_typed, Ending::Clock::now()) != EndRequests::Kind::kSame) end_job(number);
  }

  /// Where the ranks were.
  bool proxy_has_told() const { return control_.tells_itself() && has_come(filter_.ends().front()); }

  /// `why`: a signal, SIGALRM for --timeout, or SIGPIPE if what reads the output has gone.
  void end_job(int why) {
    const bool can_be_told = launch_.gdb == nullptr && control_.is_complete();
    const bool asks = can_be_told && !control_.tells_itself() && (why == SIGTERM || why == SIGALRM);
    if (asks && !ending_.has_begun()) control_.ask_before_end();
    ending_.begin(why, {.can_be_told = can_be_told, .are_asked = asks});
  }

  void take_steps() {
    if (ending_.has_begun() && control_.has_answered()) ending_.note_answer();
    switch (ending_.next()) {
      case Ending::Step::kNothing:
        return;
      case Ending::Step::kTell:
        where_ = control_.answer();
        if (ending_.why() == SIGALRM && !control_.tells_itself()) tell_of_timeout();
        return control_.end_ranks(ending_.why());
      case Ending::Step::kTerminate:
        if (ending_.why() == SIGALRM && !proxy_has_told()) tell_of_timeout();
        return supervisor_.signal(SIGTERM);
      case Ending::Step::kKill:
        return supervisor_.signal(SIGKILL);
    }
  }

  /// Once; of a host whose proxy has not come, nothing more is known.
  void tell_of_timeout() {
    if (std::exchange(has_told_, true)) return;
    show(fmt::format("mpiexec: the job has not ended within {} s (--timeout): ending it{}{}\n",
                     launch_.timeout_seconds, where_.empty() ? "" : "; where the ranks were:\n", where_));
  }

  void read_errors() {
    char bytes[64 << 10];
    for (std::size_t sum = 0; errors_ >= 0 && sum < kMostErrorsInATurn;) {
      const ssize_t got = ::read(errors_, bytes, sizeof bytes);
      if (got == 0) ::close(std::exchange(errors_, -1));
      if (got <= 0) return;
      sum += static_cast<std::size_t>(got);
      show(filter_.add({bytes, static_cast<std::size_t>(got)}));
    }
  }

  void pass_on_output() {
    if (filter_.has_begun()) output_.release();
    for (OutputBuffer* const buffer : buffers_) buffer->write();
    output_.transfer();
    if (tell_of_lost_output() == EPIPE) end_job(SIGPIPE);
  }

  /// Once. Returns the error then, and 0 otherwise.
  int tell_of_lost_output() {
    const int error = HeldOutput::error();
    if (error == 0 || std::exchange(is_output_lost_, true)) return 0;
    show(fmt::format("mpiexec: cannot write its output: {}: what could not be written is lost\n",
                     std::strerror(error)));
    return error;
  }

  void show(const std::string& text) {
    if (screen_) return screen_->add(STDERR_FILENO, text);
    write_error(text);
  }

  const Launch& launch_;
  PrterunOutputFilter filter_;
  ControlServer& control_;
  Ending ending_;
  std::string where_;  ///< the ranks were, before they were told to end
  bool is_stuck_ = false, has_told_ = false;
  int status_ = 0, cannot_start_ = 0;  ///< prterun's, as waitpid() has it, and why there is none
  TcpUserTimeout user_timeout_;
  std::optional<CollapsedScreen> screen_;  ///< only where output is collapsed
  std::optional<LineForwarder> out_lines_;
  Supervisor supervisor_;
  pid_t prterun_ = -1;
  SignalLine signals_;
  EndRequests requests_;
  std::optional<Ending::Clock::time_point> timeout_at_;
  int errors_ = -1;
  HeldOutput output_;
  const std::vector<OutputBuffer*> buffers_ = output_buffers();
  bool is_output_lost_ = false;
};

}  // namespace

base::Status run_prterun(const Launch& launch, int& code) {
  PrterunDriver driver(launch);
  CLUMP_TRY(driver.start());
  code = driver.finish();
  return {};
}

}  // namespace clump::mpiexec
