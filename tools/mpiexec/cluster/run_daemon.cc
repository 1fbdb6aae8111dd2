#include "cluster/run_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/random.h"
#include "cluster/prterun_environment.h"
#include "command/exit_codes.h"
#include "common/path_list.h"
#include "common/poll_set.h"
#include "common/ways.h"
#include "job/descendants.h"
#include "job/signal_line.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kDaemonGrace{1000};  ///< for prted, to end its ranks and remove its files

/// PRRTE writes its command for the user's login shell.
std::string shell() {
  const char* const own = std::getenv("SHELL");
  return own != nullptr && std::string_view(own).ends_with("csh") ? own : "/bin/sh";
}

int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

[[noreturn]] void become(const std::string& command, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kConnectionLost);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const std::string path = shell();
  // PRRTE puts its folder in front of lists that may not be set, or, in csh, that may be empty.
  if (const char* const list = std::getenv("LD_LIBRARY_PATH"); list != nullptr && *list == '\0')
    ::unsetenv("LD_LIBRARY_PATH");
  const std::string safe = tools::without_empty_elements(command);
  ::execl(path.c_str(), path.c_str(), "-c", safe.c_str(), nullptr);
  fmt::print(stderr, "{}: {}\n", path, std::strerror(errno));
  std::fflush(stderr);
  ::_exit(kExitCannotRun);
}

/// In the supervisor, until the command and what it has started have ended. `life` ends with the process above
/// it.
int supervise(const std::string& command, int life) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "clump-supervise");
  ::setsid();  // what ends the processes of ssh's session leaves it time to do its work
  SignalLine signals;
  signals.begin(std::array{SIGCHLD});
  const int most = signals.descriptor() < 0 ? static_cast<int>(SignalLine::kPause.count()) : -1;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(command, parent);
  if (child < 0) {
    fmt::print(stderr, "mpiexec: cannot start a process: {}\n", std::strerror(errno));
    return kExitCannotRun;
  }
  std::optional<int> code;
  for (bool goes_on = true; goes_on;) {
    tools::PollSet all;
    all.add(signals.descriptor());
    for (const int end : {life, STDOUT_FILENO, STDERR_FILENO}) all.add(end, 0);
    all.wait(most);
    for (const int end : {life, STDOUT_FILENO, STDERR_FILENO}) goes_on = goes_on && !all.is_ready(end);
    siginfo_t info;
    while (signals.next(info)) continue;
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (ended == child) code = code_of(status);
    const bool is_left = ended == 0;
    goes_on = goes_on && is_left && code.value_or(0) == 0;
  }
  end_descendants(kDaemonGrace, Sessions::kAll, {code ? -1 : child});
  return code.value_or(kConnectionLost);
}

}  // namespace

std::string choose_folder(const char* variable) {
  if (std::getenv(variable) != nullptr || std::getenv("PRTE_MCA_prte_tmpdir_base") != nullptr) return {};
  std::error_code none;
  const std::filesystem::path place = std::filesystem::temp_directory_path(none);
  if (none) return {};
  std::string folder = (place / fmt::format("clump.{:016x}", base::random_number())).string();
  ::setenv(variable, folder.c_str(), 1);
  return folder;
}

int run_daemon(const std::vector<std::string>& words) {
  if (words.empty()) {
    fmt::print(stderr, "mpiexec: {} is how mpiexec starts PRRTE's daemon: it is not for users\n", kRunDaemon);
    return kExitUsage;
  }
  for (const int end : {STDOUT_FILENO, STDERR_FILENO})  // one that is closed would seem to have ended
    if (::fcntl(end, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (words.size() > 2) {
    const std::vector<std::string> addresses(words.begin() + 2, words.end());
    limit_network(tools::interfaces_towards(tools::ways_back(tools::know_self(), addresses, words[1])));
  }
  // This host's prted only: on mpiexec's host it is another one (cluster.cc).
  const std::string folder = choose_folder("PRTE_MCA_prte_remote_tmpdir_base");
  int life[2];
  if (::pipe2(life, O_CLOEXEC) != 0) {
    fmt::print(stderr, "mpiexec: cannot make a pipe: {}\n", std::strerror(errno));
    return kExitCannotRun;
  }
  const auto remove_folder = [&] {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  };
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::close(life[1]);
    const int code = supervise(words.front(), life[0]);
    remove_folder();  // here, too: the process above may have been killed
    ::_exit(code);
  }
  ::close(life[0]);
  int status = kExitCannotRun << 8;
  while (supervisor > 0 && ::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) continue;
  kill_descendants({supervisor});  // the supervisor has left some only if it was killed
  remove_folder();
  return code_of(status);
}

}  // namespace clump::mpiexec
