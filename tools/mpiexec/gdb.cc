#include "gdb.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/places.h"

namespace clump::mpiexec {

namespace {

/// gdb has the first process when it begins, and takes the others one by one.
std::vector<std::string> arguments(const std::vector<pid_t>& processes,
                                   const std::optional<std::string>& commands) {
  const std::string library = tools::own_library("libmpi_abi.so.1");
  std::vector<std::string> words{"gdb", "-q"};
  if (commands) words.emplace_back("-batch");
  words.insert(words.end(), {"-iex", "set pagination off", "-iex", "set print thread-events off", "-iex",
                             "add-auto-load-safe-path " + library.substr(0, library.rfind('/')), "-p",
                             std::to_string(processes.front())});
  for (std::size_t i = 1; i < processes.size(); ++i)
    words.insert(words.end(), {"-ex", "add-inferior -no-connection", "-ex", fmt::format("inferior {}", i + 1),
                               "-ex", fmt::format("attach {}", processes[i])});
  words.insert(words.end(), {"-ex", "clump begin"});
  if (commands) words.insert(words.end(), {"-x", *commands});
  return words;
}

/// Between fork and exec. Returns only if that fails.
void become(const std::string& path, const std::vector<std::string>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  ::execv(path.c_str(), pointers.data());
}

}  // namespace

Gdb::~Gdb() { end(); }

base::Status Gdb::find() {
  if (tools::find_program("gdb", tools::current_directory(), path_).ok()) return {};
  return base::fail(MPI_ERR_SPAWN,
                    "--gdb: there is no gdb in PATH: install it (Debian and Ubuntu: apt install gdb)");
}

base::Status Gdb::start(const std::vector<pid_t>& processes, const std::optional<std::string>& commands) {
  const std::vector<std::string> words = arguments(processes, commands);
  process_ = ::fork();
  if (process_ == 0) {
    become(path_, words);
    ::_exit(127);
  }
  if (process_ > 0) ended_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
  if (ended_ >= 0) return {};
  return base::fail(MPI_ERR_SPAWN, "--gdb: cannot start {}: {}", path_, std::strerror(errno));
}

std::optional<int> Gdb::take_end() {
  int status = 0;
  if (ended_ < 0 || ::waitpid(process_, &status, WNOHANG) != process_) return {};
  ::close(std::exchange(ended_, -1));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Gdb::end() {
  if (!is_running()) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  ::close(std::exchange(ended_, -1));
}

}  // namespace clump::mpiexec
