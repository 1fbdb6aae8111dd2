#include "job/explore.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "base/memory_file.h"
#include "base/why_refused.h"
#include "common/cores.h"
#include "common/output.h"
#include "common/places.h"
#include "job/run.h"

namespace clump::mpiexec {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTell{100};  ///< how often a terminal is told how far it is

/// One run, in a process that goes on as an mpiexec of its own.
struct Trial {
  std::int64_t seed = 0;
  pid_t process = -1;
  int out = -1, err = -1;  ///< what it has printed
};

/// Each reads it from the beginning if it is a file; otherwise there is nothing.
int open_input() {
  struct stat info {};
  const bool is_file = ::fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode);
  return ::open(is_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY);
}

void copy(int from, int to) {
  struct stat info {};
  if (::fstat(from, &info) != 0) return;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t got = ::pread(from, bytes.data(), bytes.size(), 0);
  for (ssize_t done = 0; done < got;) {
    const ssize_t written = ::write(to, bytes.data() + done, static_cast<std::size_t>(got - done));
    if (written <= 0) return;
    done += written;
  }
}

class Exploration {
 public:
  Exploration(const Command& command, const Plan& plan)
      : command_(command), plan_(plan), next_(*command.seed), end_(next_ + command.explore) {
    tools::UsableCores usable;
    // Where the cores are not known one at a time will do.
    if (tools::find_cores({command.cores, command.hardware_threads}, usable).ok())
      at_once_ = std::max<std::size_t>(usable.most, 1);
  }

  int run() {
    while (next_ < end_ || !trials_.empty()) {
      while (next_ < end_ && trials_.size() < at_once_)
        if (!start(next_++)) return kExitCannotRun;
      const Trial first = trials_.front();
      trials_.pop_front();
      tell(first.seed);
      const int code = wait_for(first);
      if (code != 0) return show(first, code);
      ::close(first.out);
      ::close(first.err);
    }
    tell_nothing();
    tools::print_error("mpiexec: {} seeds tried ({} to {}), and no run has failed\n", command_.explore,
                       *command_.seed, end_ - 1);
    return 0;
  }

 private:
  bool start(std::int64_t seed) {
    Trial trial{
        .seed = seed, .out = base::memory_file("clump stdout"), .err = base::memory_file("clump stderr")};
    const pid_t me = ::getpid();
    if (trial.out >= 0 && trial.err >= 0) trial.process = ::fork();
    if (trial.process == 0) become(trial, me);
    if (trial.process < 0) {
      tools::print_error("mpiexec: cannot run seed {}: {}\n", seed,
                         base::why_refused("fork or memfd_create", errno));
      end_all();
      return false;
    }
    trials_.push_back(trial);
    return true;
  }

  [[noreturn]] void become(const Trial& trial, pid_t parent) const {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) std::_Exit(kExitCannotRun);  // it died before the line above
    ::dup2(open_input(), STDIN_FILENO);
    ::dup2(trial.out, STDOUT_FILENO);
    ::dup2(trial.err, STDERR_FILENO);
    Plan plan = plan_;
    plan.job.seed = static_cast<std::uint64_t>(trial.seed);
    Records none;
    std::exit(mpiexec::run(command_, plan, none));
  }

  static int wait_for(const Trial& trial) {
    int status = 0;
    while (::waitpid(trial.process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// Those of later seeds; their supervisors end what they have started.
  void end_all() {
    for (const Trial& trial : trials_) ::kill(trial.process, SIGKILL);
    for (const Trial& trial : trials_) wait_for(trial);
  }

  int show(const Trial& failed, int code) {
    end_all();
    tell_nothing();
    copy(failed.out, STDOUT_FILENO);
    copy(failed.err, STDERR_FILENO);
    tools::print_error("mpiexec: seed {} fails, with exit code {} ({} tried); to repeat that run:\n",
                       failed.seed, code, failed.seed - *command_.seed + 1);
    tools::print_command(stderr, command_to_repeat(command_, failed.seed));
    return code;
  }

  void tell(std::int64_t seed) {
    if (!is_told_ || Clock::now() - told_at_ < kTell) return;
    told_at_ = Clock::now();
    fmt::print(stderr, "\rmpiexec: seed {}, {} of {}", seed, seed - *command_.seed + 1, command_.explore);
  }
  void tell_nothing() const {
    if (is_told_) fmt::print(stderr, "\r\033[K");
  }

  const Command& command_;
  const Plan& plan_;
  std::int64_t next_;
  const std::int64_t end_;
  std::size_t at_once_ = 1;
  std::deque<Trial> trials_;  ///< that run, in the order of their seeds
  const bool is_told_ = ::isatty(STDERR_FILENO) != 0;
  Clock::time_point told_at_;
};

}  // namespace

std::string command_to_repeat(const Command& command, std::int64_t seed) {
  std::string text = fmt::format("mpiexec --seed {}", seed);
  for (const std::string& word : command.other_words) text += " " + tools::shell_word(word);
  return text;
}

int explore(const Command& command, const Plan& plan) { return Exploration(command, plan).run(); }

}  // namespace clump::mpiexec
