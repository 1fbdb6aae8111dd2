#include "cluster/head.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
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
#include "cluster/ending.h"
#include "cluster/hosts_input.h"
#include "cluster/impatience.h"
#include "cluster/overview.h"
#include "cluster/prterun_environment.h"
#include "command/exit_codes.h"
#include "diag/report.h"
#include "gdb/gdb_hosts.h"
#include "job/keeper.h"
#include "job/signal_line.h"
#include "output/collapse.h"
#include "output/held_output.h"
#include "output/lines.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr std::chrono::milliseconds kEndOfDaemons{1000};  ///< until what prterun has started here has ended
constexpr std::size_t kShortestRule = 40;
constexpr int kLook = 20;  ///< milliseconds; so often, whether a collapsed line has waited long enough

bool is_rule(std::string_view line) {
  return line.size() > kShortestRule && line.find_first_not_of('-') == line.size() - 1;
}

/// What PRRTE says of a process or a host that has failed; our own report says it.
bool repeats_report(std::string_view line) {
  return line.starts_with("prterun detected that one or more processes exited") ||
         line.starts_with("prterun noticed that process rank") ||
         line.starts_with("PRTE has lost communication with a remote daemon");
}

/// A race between prterun and the ssh that it starts, without consequences, and what follows from a failure.
bool is_noise(std::string_view line) {
  return line.find("plm:ssh: Warning: setpgid(") != line.npos ||
         (line.starts_with('[') && line.find("] PRTE ERROR: ") != line.npos);
}

class Head {
 public:
  explicit Head(const Launch& launch)
      : launch_(launch),
        filter_(launch.word, launch.hosts),
        overview_(launch.overview),
        ending_(launch.timeout_seconds) {
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
      std::vector<pollfd> all{{signals_.descriptor(), POLLIN, 0},
                              {errors_, POLLIN, 0},
                              {keeper_.descriptor(), POLLIN, 0}};  // -1: not asked
      output_.add_descriptors(all);
      overview_.add_descriptors(all);
      launch_.input.add_descriptors(all);
      if (launch_.gdb != nullptr) launch_.gdb->add_descriptors(all);
      ::poll(all.data(), all.size(), screen_ ? std::min(kLook, milliseconds_left()) : milliseconds_left());
      if (prterun_ > 0) impatience_.look_at(prterun_);
      read_signals();
      read_errors();
      pass_on_output();
      if (screen_) screen_->show();
      if (ending_.has_begun() || std::ranges::any_of(filter_.ends(), has_come)) overview_.note_end();
      is_stuck_ = overview_.poll() || is_stuck_;
      launch_.input.poll();
      if (ending_.is_timeout()) end_job(SIGALRM);
      take_steps();
      if (launch_.gdb != nullptr) look_after_gdb(*launch_.gdb);
    }
    keeper_.stop();
    if (launch_.gdb != nullptr) launch_.gdb->end();
    read_errors();  // daemons may keep the pipe open: what is in it is all that is waited for
    pass_on_output();
    output_.finish();
    show(filter_.finish());
    if (out_lines_) out_lines_->finish();
    if (screen_) screen_->show_all();
    return report(WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_));
  }

 private:
  static bool has_come(HostEnd end) { return end != HostEnd::kUnknown; }

  int milliseconds_left() const {
    using std::chrono::milliseconds;
    milliseconds most{Impatience::kMilliseconds};
    for (const auto& alarm : {overview_.alarm(), ending_.alarm()})
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
    prterun.of_mpiexec = {errors[0], output[0]};
    const base::Status started = keeper_.start({prterun});
    ::close(prterun.in);
    return started;
  }

  bool has_ended() {
    Event event;
    bool keeper_gone = false;
    while (keeper_.next(event, keeper_gone)) {
      if (event.kind == Event::Kind::kStarted) {
        prterun_ = event.value;
        continue;
      }
      status_ = event.value;
      if (event.kind == Event::Kind::kCannotStart) cannot_start_ = event.value;
      return true;
    }
    if (keeper_gone) show("mpiexec: the process that keeps the job together was killed\n");
    if (keeper_gone) status_ = SIGKILL;
    return keeper_gone;
  }

  /// prterun's code is no proof: it may end with 0 where it has lost a host.
  int report(int code) const {
    if (cannot_start_ != 0) {
      fmt::print(stderr, "mpiexec: cannot start {}: {}\n", launch_.arguments.front(),
                 std::strerror(cannot_start_));
      return kExitCannotRun;
    }
    if (is_stuck_) return 1;  // which was said
    if (output_.error() == EPIPE) return 128 + SIGPIPE;
    if (ending_.has_begun()) return report_ending();
    if (filter_.troubles().any()) {
      write_all(STDERR_FILENO, filter_.troubles().text());
      return filter_.troubles().code();
    }
    const auto& ends = filter_.ends();
    const bool all_done = std::ranges::all_of(ends, [](HostEnd end) { return end == HostEnd::kDone; });
    if (code == 0 && all_done && is_output_lost_) return kExitOutput;
    if (code == 0 && all_done) return launch_.gdb != nullptr ? launch_.gdb->code() : 0;
    if (std::ranges::find(ends, HostEnd::kFailed) != ends.end()) return code != 0 ? code : 1;
    write_all(STDERR_FILENO, output_.unreleased());
    if (WIFSIGNALED(status_)) {
      fmt::print(stderr, "mpiexec: prterun, which starts the job on its hosts, was ended by {}\n",
                 diag::signal_name(WTERMSIG(status_)));
      return code;
    }
    if (const std::string missing = filter_.missing(); !missing.empty())
      fmt::print(stderr, "mpiexec: {}\n", missing);
    if (const std::string settings = prrte_settings(launch_.environment);
        !overview_.has_begun() && !settings.empty())
      fmt::print(
          stderr,
          "mpiexec: prterun was given {} by the environment: unset what is left over from another job\n",
          settings);
    return code != 0 ? code : 1;
  }

  /// By the time it is ended from outside, ranks that handle the signal may have come to a good end.
  int report_ending() const {
    if (ending_.why() == SIGALRM) return kExitTimeout;
    const auto& ends = filter_.ends();
    if (std::ranges::all_of(ends, [](HostEnd end) { return end == HostEnd::kDone; })) return 0;
    if (ending_.why() != SIGTERM || !agent_has_told())
      fmt::print(stderr, "mpiexec: the job was ended by {}{}{}\n", diag::signal_name(ending_.why()),
                 where_.empty() ? "" : "; where the ranks were:\n", where_);
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
        overview_.ask();
      else if (number == SIGINT || number == SIGTERM || number == SIGHUP)
        end_job(number);
      else
        overview_.pass_on(number);
      if (number == SIGTSTP) ::raise(SIGSTOP);
    }
  }

  /// Where the ranks were.
  bool agent_has_told() const { return overview_.tells_itself() && has_come(filter_.ends().front()); }

  /// `why`: a signal, or SIGALRM for --timeout.
  void end_job(int why) {
    const bool can_be_told = launch_.gdb == nullptr && overview_.is_complete();
    const bool asks = can_be_told && !overview_.tells_itself() && (why == SIGTERM || why == SIGALRM);
    if (asks && !ending_.has_begun()) overview_.ask_before_end();
    ending_.begin(why, {.can_be_told = can_be_told, .are_asked = asks});
  }

  void take_steps() {
    if (ending_.has_begun() && overview_.has_answered()) ending_.note_answer();
    switch (ending_.next()) {
      case Ending::Step::kNothing:
        return;
      case Ending::Step::kTell:
        where_ = overview_.answer();
        if (ending_.why() == SIGALRM && !overview_.tells_itself()) tell_of_timeout();
        return overview_.end_ranks(ending_.why());
      case Ending::Step::kTerminate:
        if (ending_.why() == SIGALRM && !agent_has_told()) tell_of_timeout();
        return keeper_.signal(SIGTERM);
      case Ending::Step::kKill:
        return keeper_.signal(SIGKILL);
    }
  }

  /// Once; of a host whose agent has not come, nothing more is known.
  void tell_of_timeout() {
    if (std::exchange(has_told_, true)) return;
    show(fmt::format("mpiexec: the job has not ended within {} s (--timeout): ending it{}{}\n",
                     launch_.timeout_seconds, where_.empty() ? "" : "; where the ranks were:\n", where_));
  }

  void read_errors() {
    char bytes[64 << 10];
    while (errors_ >= 0) {
      const ssize_t got = ::read(errors_, bytes, sizeof bytes);
      if (got > 0) {
        show(filter_.add({bytes, static_cast<std::size_t>(got)}));
      } else {
        if (got == 0) ::close(std::exchange(errors_, -1));
        return;
      }
    }
  }

  void pass_on_output() {
    if (filter_.has_begun()) output_.release();
    output_.transfer();
    if (output_.error() == 0 || std::exchange(is_output_lost_, true)) return;
    show(fmt::format("mpiexec: cannot write its output: {}: what could not be written is lost\n",
                     std::strerror(output_.error())));
    if (output_.error() == EPIPE) end_job(SIGTERM);
  }

  void show(const std::string& text) {
    if (screen_) return screen_->add(STDERR_FILENO, text);
    write_all(STDERR_FILENO, text);
  }

  const Launch& launch_;
  HeadFilter filter_;
  Overview& overview_;
  Ending ending_;
  std::string where_;  ///< the ranks were, before they were told to end
  bool is_stuck_ = false, has_told_ = false;
  int status_ = 0, cannot_start_ = 0;  ///< prterun's, as waitpid() has it, and why there is none
  Impatience impatience_;
  std::optional<CollapsedScreen> screen_;  ///< only where output is collapsed
  std::optional<LineForwarder> out_lines_;
  Keeper keeper_;
  pid_t prterun_ = -1;
  SignalLine signals_;
  int errors_ = -1;
  HeldOutput output_;
  bool is_output_lost_ = false;
};

bool has_address(const std::string& host) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

/// Separated by "or".
template <typename Which>
std::string some_of(const std::vector<std::string>& hosts, Which which) {
  std::string names;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    if (which(host)) names += (names.empty() ? "" : " or ") + hosts[host];
  return names;
}

}  // namespace

std::string HeadFilter::add(std::string_view bytes) {
  std::string shown;
  for (std::size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
    partial_ += bytes.substr(0, end + 1);
    shown += take_line(std::exchange(partial_, {}));
  }
  partial_ += bytes;
  return shown;
}

std::string HeadFilter::finish() {
  std::erase(partial_, '\0');
  const bool blank = partial_.find_first_not_of(' ') == partial_.npos;
  return std::exchange(rule_, {}) + (blank ? std::string() : std::exchange(partial_, {}));
}

std::string HeadFilter::take_line(std::string line) {
  std::erase(line, '\0');  // PRRTE writes the end of a string, too
  if (is_last_word(line) || is_noise(line)) return {};
  if (hosts_.size() > 1 && line.starts_with("mpiexec: ") && !said_.insert(line).second) return {};
  look_for_lost(line);
  if (in_dropped_) {
    in_dropped_ = !is_rule(line);
    return {};
  }
  if (!rule_.empty() && repeats_report(line)) {
    in_dropped_ = true;
    rule_.clear();
    return {};
  }
  std::string before = std::exchange(rule_, {});
  if (is_rule(line)) return rule_ = std::move(line), before;
  return before + line;
}

bool HeadFilter::is_last_word(std::string_view line) {
  if (word_.empty() || !line.starts_with(word_)) return false;
  if (troubles_.take(line.substr(word_.size()), has_begun_)) return true;
  std::size_t host = 0;
  char end = 0;
  int code = 0;
  if (std::sscanf(std::string(line.substr(word_.size())).c_str(), " %zu %c %d", &host, &end, &code) != 3 ||
      host >= ends_.size())
    return true;
  if (HostEnd{end} == HostEnd::kBegun) {
    has_begun_ = true;
  } else {
    ends_[host] = HostEnd{end};
    if (code_ == 0) code_ = code;
  }
  return true;
}

/// "  Remote host:   NAME" or "  Remote daemon: [...] on node NAME".
void HeadFilter::look_for_lost(const std::string& line) {
  if (!lost_.empty() || line.find("  Remote ") != 0) return;
  const std::size_t end = line.find_last_not_of(" \n");
  const std::string name = line.substr(0, end + 1).substr(line.find_last_of(' ', end) + 1);
  if (std::ranges::find(hosts_, name) != hosts_.end()) lost_ = name;
}

std::string HeadFilter::missing() const {
  static constexpr const char* kLost = "lost {}: the host, its network or PRRTE's daemon there is gone";
  if (!lost_.empty()) return fmt::format(kLost, lost_);
  const auto is_silent = [this](std::size_t host) { return ends_[host] == HostEnd::kUnknown; };
  const std::string silent = some_of(hosts_, is_silent);
  if (silent.empty()) return {};
  if (std::ranges::any_of(ends_, [](HostEnd end) { return end != HostEnd::kUnknown; }))
    return fmt::format(kLost, silent);
  const std::string nameless =
      some_of(hosts_, [this](std::size_t host) { return !has_address(hosts_[host]); });
  if (nameless.empty())
    return fmt::format("no host has begun: prterun, which has said why, could not reach {}", silent);
  return fmt::format("no host has begun: no address is known for {}", nameless);
}

std::string last_word(const std::string& word, int host, HostEnd end, int code) {
  return fmt::format("{} {} {} {}\n", word, host, static_cast<char>(end), code);
}

base::Status run_prterun(const Launch& launch, int& code) {
  Head head(launch);
  CLUMP_TRY(head.start());
  code = head.finish();
  return {};
}

}  // namespace clump::mpiexec
