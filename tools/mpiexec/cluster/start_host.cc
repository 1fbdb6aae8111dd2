#include "cluster/start_host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/program_path.h"
#include "cluster/listener.h"
#include "cluster/prterun_environment.h"
#include "cluster/prterun_output_filter.h"
#include "cluster/run_daemon.h"
#include "cluster/troubles.h"
#include "common/host_trial.h"
#include "common/places.h"
#include "common/poll_set.h"
#include "common/reach.h"
#include "common/remote_shell.h"
#include "common/ways.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

constexpr const char* kShell = "CLUMP_REMOTE_SHELL";  ///< what the user's PRTE_MCA_plm_ssh_agent was
constexpr const char* kTrial = "CLUMP_HOST_TRIAL";    ///< a command for the host's shell
constexpr std::size_t kUsualRadix = 64;               ///< of PRRTE's tree of daemons
constexpr std::size_t kMostShown = 600;               ///< bytes of what ssh says: the end
constexpr int kSoon = 1000;                           ///< milliseconds; so long may ssh take to fail

std::string value(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? text : "";
}

/// Where mpiexec listens.
tools::Trial way_back() {
  ListenAddress mpiexec;
  if (!ListenAddress::read(mpiexec)) return {};
  std::erase_if(mpiexec.addresses, tools::is_loopback);
  return {.port = mpiexec.port, .addresses = mpiexec.addresses, .network = mpiexec.network};
}

/// Whether start_host() starts the daemons: in an allocation of a batch system PRRTE has that system do it.
bool are_started_by_us() {
  if (const std::string plm = value("PRTE_MCA_plm"); !plm.empty()) return plm == "ssh";
  return value("SLURM_JOBID").empty() && value("PBS_JOBID").empty() && value("LSB_JOBID").empty();
}

/// PRRTE's daemons tell each other the addresses of their hosts, and connect to one of them: to those by
/// which mpiexec and a host reach each other, and no others.
void limit_network_of_daemons() {
  ::setenv(kWayVariable, "", 1);
  const tools::Trial back = way_back();
  if (!are_started_by_us() || !limit_network(tools::interfaces_towards(back.addresses))) return;
  std::string way = back.network;
  for (const std::string& address : back.addresses) way += " " + tools::shell_word(address);
  ::setenv(kWayVariable, way.c_str(), 1);
}

/// prterun's command for a daemon, from words[first] on. prterun passes on its own settings as words
/// "--prtemca NAME VALUE"; `chooses_network`: without the interface of this host, as --run-daemon chooses one
/// of its host.
std::string daemon_command(const std::vector<std::string>& words, std::size_t first, bool chooses_network) {
  std::string command;
  for (std::size_t word = first; word < words.size(); ++word) {
    const bool is_network =
        word + 2 < words.size() && words[word] == "--prtemca" && words[word + 1] == kNetworkParameter;
    if (is_network && chooses_network)
      word += 2;
    else
      command += " " + words[word];
  }
  return command;
}

/// What a trial has found to be wrong, among all that came from the host; empty: nothing.
std::string trial_result(const std::string& said) {
  std::istringstream in(said);
  tools::TrialLine found;
  for (std::string line; std::getline(in, line);)
    if (tools::parse(line, found) && !found.is_good) return found.text;
  return {};
}

/// What else has come.
std::string without_trial(const std::string& said) {
  std::istringstream in(said);
  std::string rest;
  tools::TrialLine found;
  for (std::string line; std::getline(in, line);)
    if (!tools::parse(line, found)) rest += line + '\n';
  return rest;
}

/// Its last lines, as one.
std::string last_lines(std::string_view text) {
  std::string line(text.substr(text.size() - std::min(text.size(), kMostShown)));
  line.erase(line.find_last_not_of(" \r\n") + 1);
  std::erase(line, '\r');
  for (std::size_t end; (end = line.find('\n')) != line.npos;) line.replace(end, 1, "; ");
  return line;
}

/// ssh, while it runs.
class Shell {
 public:
  bool start(std::vector<std::string> words) {
    int output[2];
    if (::pipe2(output, O_CLOEXEC) != 0) return false;
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ == 0) become(words, output[1], parent);
    ::close(output[1]);
    output_ = output[0];
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
    return child_ > 0;
  }

  /// Its exit code, or 128 + the signal that ended it.
  int wait() {
    sigset_t handled;
    sigemptyset(&handled);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&handled, number);
    ::sigprocmask(SIG_BLOCK, &handled, nullptr);
    const int signals = ::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) == 0) {
      tools::PollSet both;
      both.add(signals);
      both.add(output_);
      const bool has_come = both.wait(said_.size() > shown_ ? kSoon : -1);
      read();
      if (!has_come || shown_ == 0) show(!has_come);
      signalfd_siginfo info;
      while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
        if (info.ssi_signo != SIGCHLD) was_ended_ = ::kill(child_, SIGTERM) == 0;
    }
    read();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  const std::string& said() const { return said_; }
  /// The rest of it.
  void show_all() { show(true); }
  /// From outside: the job is over.
  bool was_ended() const { return was_ended_; }

 private:
  [[noreturn]] static void become(std::vector<std::string>& words, int output, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(kConnectionLost);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    fmt::print(stderr, "{}: {}\n", words.front(), std::strerror(errno));
    std::fflush(stderr);
    ::_exit(kConnectionLost);
  }

  /// What it has said, if not why it fails: what has come before the trial, or `all`.
  void show(bool all) {
    const std::size_t end = all ? said_.size() : said_.find(tools::kTrialMark);
    if (end == said_.npos || end <= shown_) return;
    const std::string text = without_trial(said_.substr(shown_, end - shown_));
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    shown_ = end;
  }

  void read() {
    char bytes[4096];
    while (output_ >= 0) {
      const ssize_t got = ::read(output_, bytes, sizeof bytes);
      if (got > 0) {
        said_.append(bytes, static_cast<std::size_t>(got));
      } else {
        if (got == 0) ::close(std::exchange(output_, -1));
        return;
      }
    }
  }

  pid_t child_ = -1;
  int output_ = -1;
  bool was_ended_ = false;
  std::string said_;
  std::size_t shown_ = 0;  ///< so much of it
};

std::string explain(int code, const std::string& said, const std::string& shell, const std::string& host) {
  const std::string lines = last_lines(without_trial(said));
  const std::string quoted = lines.empty() ? "it says nothing" : lines;
  if (const std::string found = trial_result(said); code == tools::kTrialFailed && !found.empty())
    return found;
  if (code == tools::kTrialFailed)
    return fmt::format("Clump cannot be run there ({}): it has to be at the same path on every host", quoted);
  if (code == kConnectionLost)
    return fmt::format("{} does not reach it (exit code {}): {}{}", shell, code, quoted,
                       tools::addresses_of(host).empty() ? "; no address is known for it" : "");
  return fmt::format(
      "PRRTE's daemon cannot be run there (exit code {}: {}): PRRTE has to be at the same path on every host",
      code, quoted);
}

}  // namespace

base::Status start_hosts_by_ourselves(std::size_t hosts) {
  std::vector<std::string> shell;
  CLUMP_TRY(tools::find_remote_shell(shell));
  ::setenv(kShell, value(tools::kRemoteShellVariable).c_str(), 1);
  ::setenv(kTrial, tools::command_of(way_back()).c_str(), 1);
  limit_network_of_daemons();
  // Not our path, in which PRRTE would take blanks and colons for its own.
  ::setenv(tools::kRemoteShellVariable, fmt::format("/proc/{}/exe {}", ::getpid(), kStartHost).c_str(), 1);
  if (hosts > kUsualRadix) {
    // All of them start from here: among more hosts daemons would start others. Each ssh stays as long as its
    // daemon, and PRRTE starts at most so many at a time.
    ::setenv("PRTE_MCA_plm_ssh_no_tree_spawn", "1", 1);
    ::setenv("PRTE_MCA_plm_ssh_num_concurrent", std::to_string(hosts).c_str(), 1);
  }
  return {};
}

int start_host(const std::vector<std::string>& words) {
  std::vector<std::string> shell;
  const std::string named = value(kShell);
  std::size_t host = 1;  // behind kStartHost
  while (host < words.size() && words[host].starts_with('-')) ++host;
  if (host + 1 >= words.size() ||
      !tools::find_remote_shell(named.empty() ? tools::kUsualRemoteShell : named, shell).ok())
    return kConnectionLost;
  const std::string name = std::filesystem::path(shell.front()).filename();
  shell.push_back(words[host]);
  const std::string way = value(kWayVariable);
  const std::string daemon = daemon_command(words, host + 1, !way.empty());
  shell.push_back(fmt::format("{} || exit {}; exec {} {} {} {}", value(kTrial), tools::kTrialFailed,
                              tools::shell_word(base::program_path()), kRunDaemon, tools::shell_word(daemon),
                              way));

  Shell ssh;
  if (!ssh.start(std::move(shell))) return kConnectionLost;
  const int code = ssh.wait();
  if (code == 0 || ssh.was_ended()) return ssh.show_all(), code;
  const std::string line = trouble_line(value(kFinalStatusVariable), Finder::kStarter, words[host],
                                        kExitCannotRun, explain(code, ssh.said(), name, words[host]));
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  return code;
}

}  // namespace clump::mpiexec
