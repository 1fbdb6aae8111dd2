#include "head.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/why_refused.h"
#include "collapse.h"
#include "gdb_hosts.h"
#include "impatience.h"
#include "lines.h"
#include "overview.h"
#include "signal_line.h"

namespace clump::mpiexec {

namespace {

constexpr int kHandled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD};
constexpr std::size_t kShortestRule = 40;
constexpr int kLook = 20;  ///< milliseconds; so often, whether a collapsed line has waited long enough

bool is_rule(std::string_view line) {
  return line.size() > kShortestRule && line.find_first_not_of('-') == line.size() - 1;
}

/// What PRRTE says of a process that has failed; our report comes before it.
bool repeats_report(std::string_view line) {
  return line.starts_with("prterun detected that one or more processes exited") ||
         line.starts_with("prterun noticed that process rank");
}

/// A race between prterun and the ssh that it starts, without consequences.
bool is_noise(std::string_view line) { return line.find("plm:ssh: Warning: setpgid(") != line.npos; }

/// Between fork and exec: what is typed, and Ctrl-C, is for gdb.
void leave_terminal() {
  ::setpgid(0, 0);
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
}

/// Between fork and exec. Returns only if that fails.
void become(const std::vector<std::string>& words, int output, int errors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // prterun then ends the job on all hosts
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (output >= 0) ::dup2(output, STDOUT_FILENO);
  ::signal(SIGQUIT, SIG_IGN);  // which a terminal sends it, too, and is for us
  ::dup2(errors, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
}

class Head {
 public:
  explicit Head(const Launch& launch)
      : launch_(launch), filter_(launch.word, launch.hosts), overview_(launch.overview) {
    if (launch.collapsed == 0) return;
    screen_.emplace(launch.collapsed);
    out_lines_.emplace(LineTarget{STDOUT_FILENO, &*screen_}, "");
  }

  base::Status start() {
    signals_.begin(kHandled);
    int errors[2], failure[2], output[2] = {-1, -1};
    if (::pipe2(errors, O_CLOEXEC) != 0 || ::pipe2(failure, O_CLOEXEC) != 0 ||
        (screen_ && ::pipe2(output, O_CLOEXEC) != 0))
      return base::fail(MPI_ERR_SPAWN, "cannot make a pipe: {}", base::why_refused("pipe2", errno));
    errors_ = errors[0];
    output_ = output[0];
    for (const int end : {errors_, output_})
      if (end >= 0) ::fcntl(end, F_SETFL, O_NONBLOCK);
    const pid_t parent = ::getpid();
    if ((child_ = ::fork()) == 0) {
      if (launch_.gdb != nullptr) leave_terminal();
      become(launch_.arguments, output[1], errors[1], parent);
      const int why = errno;
      (void)!::write(failure[1], &why, sizeof why);
      ::_exit(127);
    }
    for (const int end : {errors[1], failure[1], output[1]})
      if (end >= 0) ::close(end);
    int why = errno;
    const bool failed = child_ < 0 || ::read(failure[0], &why, sizeof why) == sizeof why;
    ::close(failure[0]);
    if (failed)
      return base::fail(MPI_ERR_SPAWN, "cannot start {}: {}", launch_.arguments.front(), std::strerror(why));
    return {};
  }

  int finish() {
    int status = 0;
    while (!has_ended(status)) {
      std::vector<pollfd> all{
          {signals_.descriptor(), POLLIN, 0}, {errors_, POLLIN, 0}, {output_, POLLIN, 0}};  // -1: not asked
      overview_.add_descriptors(all);
      if (launch_.gdb != nullptr) launch_.gdb->add_descriptors(all);
      ::poll(all.data(), all.size(), screen_ ? std::min(kLook, milliseconds_left()) : milliseconds_left());
      impatience_.look_at(child_);
      read_signals();
      read_errors();
      read_output();
      if (screen_) screen_->show();
      if (interrupted_ || std::ranges::any_of(filter_.ends(), has_come)) overview_.note_end();
      is_stuck_ = overview_.poll() || is_stuck_;
      if (launch_.gdb != nullptr) look_after_gdb(*launch_.gdb);
    }
    if (launch_.gdb != nullptr) launch_.gdb->end();
    read_errors();  // daemons may keep the pipe open: what is in it is all that is waited for
    read_output();
    show(filter_.finish());
    if (out_lines_) out_lines_->finish();
    if (screen_) screen_->show_all();
    return report(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  }

 private:
  static bool has_come(HostEnd end) { return end != HostEnd::kUnknown; }

  int milliseconds_left() const {
    using std::chrono::milliseconds;
    milliseconds most{Impatience::kMilliseconds};
    if (const auto alarm = overview_.alarm())
      most = std::clamp(std::chrono::ceil<milliseconds>(*alarm - std::chrono::steady_clock::now()),
                        milliseconds{0}, most);
    return static_cast<int>(most.count());
  }

  void look_after_gdb(GdbHosts& gdb) {
    const base::Status started = gdb.poll();
    if (started.ok()) return;
    show(fmt::format("mpiexec: {}\n", base::message_of(started.code())));
    interrupted_ = true;
    ::kill(child_, SIGTERM);
  }

  bool has_ended(int& status) const {
    const pid_t ended = ::waitpid(child_, &status, WNOHANG);
    return ended == child_ || (ended < 0 && errno == ECHILD);
  }

  /// prterun's code is no proof: it may end with 0 where it has lost a host.
  int report(int code) const {
    if (is_stuck_) return 1;  // which was said
    const auto& ends = filter_.ends();
    const bool all_done = std::ranges::all_of(ends, [](HostEnd end) { return end == HostEnd::kDone; });
    if (code == 0 && all_done) return launch_.gdb != nullptr ? launch_.gdb->code() : 0;
    if (interrupted_ || std::ranges::find(ends, HostEnd::kFailed) != ends.end()) return code != 0 ? code : 1;
    if (const std::string missing = filter_.missing(); !missing.empty())
      fmt::print(stderr, "mpiexec: {}\n", missing);
    return code != 0 ? code : 1;
  }

  void read_signals() {
    siginfo_t info;
    while (signals_.next(info)) {
      const int number = info.si_signo;
      const bool typed = info.si_code > 0;
      if (number == SIGCHLD) continue;
      if (typed && launch_.gdb != nullptr && launch_.gdb->is_running() && number != SIGHUP)
        continue;  // gdb's
      if (number == SIGQUIT) {
        overview_.ask();
        continue;
      }
      if (number == SIGUSR1 || number == SIGUSR2) {
        overview_.pass_on(number);
        continue;
      }
      interrupted_ = interrupted_ || number == SIGINT || number == SIGTERM || number == SIGHUP;
      if (!typed || launch_.gdb != nullptr) ::kill(child_, number);  // otherwise prterun got it as well
    }
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

  void read_output() {
    char bytes[64 << 10];
    while (output_ >= 0) {
      const ssize_t got = ::read(output_, bytes, sizeof bytes);
      if (got > 0) {
        out_lines_->add({bytes, static_cast<std::size_t>(got)});
      } else {
        if (got == 0) ::close(std::exchange(output_, -1));
        return;
      }
    }
  }

  void show(const std::string& text) {
    if (screen_) return screen_->add(STDERR_FILENO, text);
    write_all(STDERR_FILENO, text);
  }

  const Launch& launch_;
  HeadFilter filter_;
  Overview& overview_;
  bool interrupted_ = false, is_stuck_ = false;
  Impatience impatience_;
  std::optional<CollapsedScreen> screen_;  ///< only where output is collapsed
  std::optional<LineForwarder> out_lines_;
  pid_t child_ = -1;
  SignalLine signals_;
  int errors_ = -1;
  int output_ = -1;  ///< prterun's stdout, where it is collapsed
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
  std::size_t host = 0;
  char end = 0;
  if (std::sscanf(std::string(line.substr(word_.size())).c_str(), " %zu %c", &host, &end) == 2 &&
      host < ends_.size())
    ends_[host] = HostEnd{end};
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

std::string last_word(const std::string& word, int host, HostEnd end) {
  return fmt::format("{} {} {}\n", word, host, static_cast<char>(end));
}

base::Status run_prterun(const Launch& launch, int& code) {
  Head head(launch);
  CLUMP_TRY(head.start());
  code = head.finish();
  return {};
}

}  // namespace clump::mpiexec
