#include "job/supervisor.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/why_refused.h"
#include "common/poll_set.h"
#include "job/descendants.h"
#include "job/end_order.h"
#include "job/signal_line.h"

namespace clump::mpiexec {

namespace {

void send_event(int socket, Event::Kind kind, int index, int value) {
  const Event event{kind, index, value};
  // mpiexec may be gone; the supervisor finds out by end-of-file.
  (void)!::send(socket, &event, sizeof event, MSG_NOSIGNAL);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (const std::string& one : strings) all.push_back(const_cast<char*>(one.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Where the system forbids it, the process runs on any.
bool keep_to(const std::vector<std::int32_t>& cores) {
  if (cores.empty()) return true;
  const auto most = static_cast<std::size_t>(*std::max_element(cores.begin(), cores.end())) + 1;
  cpu_set_t* set = CPU_ALLOC(most);
  const std::size_t size = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(size, set);
  for (const std::int32_t core : cores) CPU_SET_S(static_cast<std::size_t>(core), size, set);
  const bool done = ::sched_setaffinity(0, size, set) == 0;
  const bool is_forbidden = !done && (errno == ENOSYS || errno == EPERM);
  CPU_FREE(set);
  return done || is_forbidden;
}

/// What /proc/PID/status has behind "name:\t"; empty if it has no such line.
std::string status_of(pid_t process, std::string_view name) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name) && line.substr(name.size()).starts_with(":\t"))
      return line.substr(name.size() + 2);
  return {};
}

/// Of all threads of the process, and its first one has not taken it; the kernel ends threads by SIGKILL.
bool is_pending(pid_t process, int number) {
  for (const char* const name : {"ShdPnd", "SigPnd"})
    if ((std::strtoull(status_of(process, name).c_str(), nullptr, 16) >> (number - 1) & 1) != 0) return true;
  return false;
}

/// In the new process. Returns only if it cannot become `process`: why, and errno.
Event::Kind become(const Process& process, pid_t parent) {
  constexpr Event::Kind kCannotStart = Event::Kind::kCannotStart;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the supervisor died before the line above
  if (!process.working_directory.empty() && ::chdir(process.working_directory.c_str()) != 0)
    return Event::Kind::kCannotEnter;
  if (!keep_to(process.cores)) return kCannotStart;
  if (process.own_group && ::setpgid(0, 0) != 0) return kCannotStart;
  if (process.ignores_signals)
    for (const int number : kOfTheJob) ::signal(number, SIG_IGN);
  if (process.same_addresses) ::personality(ADDR_NO_RANDOMIZE);
  const int wanted[] = {process.in, process.out, process.err};
  for (int target = 0; target < 3; ++target) {
    if (wanted[target] >= 0 && ::dup2(wanted[target], target) < 0) return kCannotStart;
  }
  for (const int descriptor : process.kept) ::fcntl(descriptor, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(process.program.c_str(), pointers(process.arguments).data(), pointers(process.environment).data());
  return kCannotStart;
}

bool is_there(pid_t process) {
  const std::string state = status_of(process, "State");
  return !state.empty() && !state.starts_with('Z');
}

void remove(const Folder& folder) {
  std::error_code ignored;
  if (!folder.path.empty() && (folder.owner == 0 || !is_there(folder.owner)))
    std::filesystem::remove_all(folder.path, ignored);
}

/// `processes`: those that were started, or not, or have ended (-1).
void end_all(const std::vector<pid_t>& processes, std::chrono::milliseconds grace) {
  if (grace.count() == 0) return kill_descendants(processes);
  for (const pid_t process : processes)
    if (process > 0) ::kill(process, SIGTERM);
  end_descendants(grace, Sessions::kOwn, processes);
}

/// mpiexec sends the numbers of signals. False when it is done, or dead.
bool pass_on_signals(int socket, const std::vector<pid_t>& processes) {
  for (int number = 0;;) {
    const ssize_t got = ::recv(socket, &number, sizeof number, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got != static_cast<ssize_t>(sizeof number)) return false;
    for (const pid_t process : processes)
      if (process > 0) ::kill(process, number);
  }
}

std::chrono::milliseconds grace_of(const std::vector<Process>& processes) {
  std::chrono::milliseconds most{0};
  for (const Process& process : processes) most = std::max(most, process.grace);
  return most;
}

/// False if it has not ended, or somebody else waits for it (a debugger).
bool reap_one(pid_t process, std::vector<pid_t>& processes, int socket) {
  int status = 0;
  if (::waitpid(process, &status, WNOHANG) != process) return false;
  const auto known = std::find(processes.begin(), processes.end(), process);
  if (known == processes.end()) return true;
  *known = -1;
  send_event(socket, Event::Kind::kEnded, static_cast<int>(known - processes.begin()), status);
  return true;
}

/// Waits for all that have ended, orphans too, and tells of `processes` in the order of their ends.
void reap(std::vector<pid_t>& processes, EndOrder& order, int socket) {
  pid_t seen = -1;
  for (siginfo_t ended{};; ended = {}) {
    for (pid_t next; (next = order.next()) > 0;) reap_one(next, processes, socket);
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    // One that `order` knows has ended only now, and others may have ended before it: ask `order` once more.
    const bool is_known = order.knows(ended.si_pid) && ended.si_pid != seen;
    seen = ended.si_pid;
    if (!is_known && !reap_one(ended.si_pid, processes, socket)) return;
  }
}

[[noreturn]] void supervise(const std::vector<Process>& processes, int socket) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "clump-supervise");
  const pid_t me = ::getpid();
  std::vector<pid_t> pids;
  for (std::size_t index = 0; index < processes.size(); ++index) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Event::Kind what = become(processes[index], me);
      send_event(socket, what, static_cast<int>(index), errno);
      ::_exit(127);
    }
    pids.push_back(child);
    send_event(socket, child < 0 ? Event::Kind::kCannotStart : Event::Kind::kStarted, static_cast<int>(index),
               child < 0 ? errno : child);
  }

  // The supervisor holds no end of the job's pipes open, so that their readers see the end.
  for (const Process& process : processes) {
    for (const int descriptor : {process.in, process.out, process.err}) {
      if (descriptor > 2) ::close(descriptor);
    }
    for (const int descriptor : process.kept) ::close(descriptor);
    for (const int descriptor : process.of_mpiexec) ::close(descriptor);
  }

  EndOrder order;
  for (const pid_t process : pids)
    if (process > 0) order.add(process);
  SignalLine signals;
  signals.begin(std::array{SIGCHLD});
  const int most = signals.descriptor() < 0 ? static_cast<int>(SignalLine::kPause.count()) : -1;
  for (;;) {
    tools::PollSet both;
    both.add(signals.descriptor());
    both.add(socket);
    both.wait(most);
    if (both.is_ready(socket) && !pass_on_signals(socket, pids)) break;
    siginfo_t info;
    while (signals.next(info)) continue;
    reap(pids, order, socket);
  }
  end_all(pids, grace_of(processes));
  for (const Process& process : processes) remove(process.folder);
  ::_exit(0);
}

}  // namespace

base::Status Supervisor::start(const std::vector<Process>& processes) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::fail(MPI_ERR_OTHER, "cannot make a socket pair: {}", base::why_refused("socketpair", errno));
  }
  // The supervisor lives by its socket only: a terminal's Ctrl-C goes to the job, not to it.
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  supervisor_ = ::fork();
  const int error = errno;
  if (supervisor_ == 0) {
    ::close(ends[0]);
    supervise(processes, ends[1]);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  for (const Process& process : processes)
    for (const int given : {process.in, process.out, process.err})
      if (given >= 0) ::close(given);
  socket_ = ends[0];
  grace_ = grace_of(processes);
  for (const Process& process : processes)
    if (!process.folder.path.empty()) folders_.push_back(process.folder);
  running_.assign(processes.size(), -1);
  if (supervisor_ < 0)
    return base::fail(MPI_ERR_NO_MEM, "cannot start a process: {}", base::why_refused("fork", error));
  return {};
}

bool Supervisor::next(Event& event, bool& gone) {
  const ssize_t got = ::recv(socket_, &event, sizeof event, MSG_DONTWAIT);
  gone = got == 0;
  if (got != static_cast<ssize_t>(sizeof event)) return false;
  running_[event.index] = event.kind == Event::Kind::kStarted ? event.value : -1;
  return true;
}

void Supervisor::signal(int number) const {
  (void)!::send(socket_, &number, sizeof number, MSG_DONTWAIT | MSG_NOSIGNAL);  // it may be gone
}

Supervisor::Life Supervisor::life_of(int index) const {
  const pid_t process = running_[static_cast<std::size_t>(index)];
  const std::string state = process > 0 ? status_of(process, "State") : "";
  if (state.empty() || state.starts_with('Z') || state.starts_with('X')) return Life::kEnds;
  if (is_pending(process, SIGKILL) || status_of(process, "CoreDumping") == "1") return Life::kEnds;
  return state.starts_with('T') || state.starts_with('t') ? Life::kStopped : Life::kRuns;
}

bool Supervisor::has_pending(int number) const {
  for (int i = 0; i < static_cast<int>(running_.size()); ++i)
    if (life_of(i) == Life::kRuns && is_pending(running_[static_cast<std::size_t>(i)], number)) return true;
  return false;
}

bool Supervisor::is_dumping_core() const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](pid_t process) { return process > 0 && status_of(process, "CoreDumping") == "1"; });
}

bool Supervisor::is_late() const {
  return std::ranges::any_of(running_,
                             [](pid_t process) { return status_of(process, "State").starts_with('Z'); });
}

void Supervisor::begin_stop() {
  if (socket_ < 0) return;
  ::close(std::exchange(socket_, -1));
  if (supervisor_ > 0) ended_ = static_cast<int>(::syscall(SYS_pidfd_open, supervisor_, 0));
}

bool Supervisor::has_stopped() {
  if (supervisor_ <= 0) return true;
  int status = -1;
  const pid_t reaped = ::waitpid(supervisor_, &status, WNOHANG);
  if (reaped == 0 || (reaped < 0 && errno == EINTR)) return false;
  supervisor_ = -1;
  if (ended_ >= 0) ::close(std::exchange(ended_, -1));
  // Its orphans are ours if it was killed; those that it has reaped have lost their numbers. Otherwise there
  // are none, and mpiexec's children are others' processes: with `exec mpiexec ... > >(tee log)` of a shell
  // it has become the parent of what reads its output.
  if (reaped < 0 || status != 0) end_all(grace_.count() == 0 ? running_ : std::vector<pid_t>(), grace_);
  for (const Folder& folder : folders_) remove(folder);
  return true;
}

void Supervisor::stop() {
  begin_stop();
  while (!has_stopped()) {
    tools::PollSet mine;
    mine.add(ended_);
    mine.wait(static_cast<int>(kLookForEnd.count()));
  }
}

}  // namespace clump::mpiexec
