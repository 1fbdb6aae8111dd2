#include "gdb/gdb.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/places.h"
#include "common/poll_set.h"

namespace clump::mpiexec {

namespace {

void append(std::vector<std::string>& words, const std::string& command) {
  words.insert(words.end(), {"-ex", command});
}

/// The command that gdb talks to: mpiexec once more. (A shell cannot do it with `cat`: dash knows descriptors
/// of one digit only.)
std::string worker_thread(int socket) {
  return fmt::format("exec {} {} {}", tools::shell_word(tools::own_program("mpiexec")), kCarry, socket);
}

/// gdb takes the processes one by one.
void attach(std::vector<std::string>& words, const std::vector<Debuggees>& hosts) {
  int inferior = 1;
  for (const Debuggees& host : hosts)
    for (const pid_t& process : host.processes) {
      const bool is_first = &process == &host.processes.front();
      if (inferior > 1) {
        append(words, is_first ? "add-inferior -no-connection" : "add-inferior");
        append(words, fmt::format("inferior {}", inferior));
      }
      if (is_first && host.server >= 0)
        append(words, "target extended-remote | " + worker_thread(host.server));
      append(words, fmt::format("attach {}", process));
      ++inferior;
    }
}

std::vector<std::string> arguments(const std::string& path, const std::vector<Debuggees>& hosts,
                                   const std::optional<std::string>& commands) {
  const std::string library = tools::own_library("libmpi_abi.so.1");
  std::vector<std::string> words{path, "-q"};
  if (commands) words.emplace_back("-batch");
  words.insert(words.end(), {"-iex", "set pagination off", "-iex", "set print thread-events off", "-iex",
                             "add-auto-load-safe-path " + library.substr(0, library.rfind('/'))});
  if (hosts.front().server >= 0) {
    append(words, "set sysroot");                   // files are the same everywhere, and fetched slowly
    append(words, "maint set target-non-stop on");  // otherwise only one host's ranks would go on
  }
  attach(words, hosts);
  append(words, "clump begin");
  if (commands) words.insert(words.end(), {"-x", *commands});
  return words;
}

/// Whether there may be more.
bool pass_on(int from, int to) {
  char bytes[64 << 10];
  const ssize_t got = ::read(from, bytes, sizeof bytes);
  for (ssize_t written = 0; written < got;) {
    const ssize_t more = ::write(to, bytes + written, static_cast<std::size_t>(got - written));
    if (more <= 0) return false;
    written += more;
  }
  return got > 0;
}

}  // namespace

int carry(int socket) {
  ::signal(SIGINT, SIG_IGN);  // Ctrl-C is gdb's
  ::signal(SIGPIPE, SIG_IGN);
  for (;;) {
    tools::PollSet both;
    both.add(STDIN_FILENO);
    both.add(socket);
    if (!both.wait(-1)) break;
    if ((both.is_ready(STDIN_FILENO) && !pass_on(STDIN_FILENO, socket)) ||
        (both.is_ready(socket) && !pass_on(socket, STDOUT_FILENO)))
      break;
  }
  return 0;
}

Gdb::~Gdb() { end(); }

base::Status Gdb::find(const std::string& program) {
  if (tools::find_program(program, tools::current_directory(), path_).ok()) return {};
  return base::fail(MPI_ERR_SPAWN,
                    "--gdb: there is no {0} in PATH: install it (Debian and Ubuntu: apt install {0})",
                    program);
}

/// `prepare` is called between fork and exec.
template <typename Prepare>
base::Status Gdb::start(const std::vector<std::string>& words, Prepare prepare) {
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    prepare();
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    ::execv(path_.c_str(), pointers.data());
    ::_exit(127);
  }
  if (process_ > 0) ended_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
  if (ended_ >= 0) return {};
  return base::fail(MPI_ERR_SPAWN, "--gdb: cannot start {}: {}", path_, std::strerror(errno));
}

base::Status Gdb::debug(const std::vector<Debuggees>& hosts, const std::optional<std::string>& commands) {
  return start(arguments(path_, hosts, commands), [&hosts] {
    for (const Debuggees& host : hosts)
      if (host.server >= 0) ::fcntl(host.server, F_SETFD, 0);
  });
}

base::Status Gdb::serve(int socket) {
  return start({path_, "--once", "--multi", "-"}, [socket] {
    ::dup2(socket, STDIN_FILENO);
    ::dup2(socket, STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);  // gdb says what there is to say
  });
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
