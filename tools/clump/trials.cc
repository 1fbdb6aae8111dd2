#include "trials.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "base/memory_file.h"
#include "base/program_path.h"
#include "base/why_refused.h"
#include "common/output.h"
#include "common/system.h"

namespace clump::tools {

namespace {

/// What comes of one trial. errno tells why it has failed.
bool opens(int descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

class Trials {
 public:
  void works(std::string_view what) { line(what, "works"); }
  void falls_back(std::string_view what, const std::string& why, std::string_view instead) {
    line(what, fmt::format("falls back: {} ({})", instead, why));
  }
  void fails(std::string_view what, const std::string& why, std::string_view consequence) {
    line(what, fmt::format("DOES NOT WORK: {} ({})", consequence, why));
    is_usable_ = false;
  }
  /// Of what only some jobs need.
  void lacks(std::string_view what, const std::string& why, std::string_view consequence) {
    line(what, fmt::format("not here: {} ({})", consequence, why));
  }

  bool is_usable() const { return is_usable_; }

 private:
  static void line(std::string_view what, std::string_view outcome) {
    print_out("{:<34} {}\n", what, outcome);
  }

  bool is_usable_ = true;
};

void try_memory(Trials& trials) {
  constexpr const char* kWhat = "memory file (memfd_create)";
  constexpr std::size_t kBytes = 1 << 20;
  const bool has_call = opens(::memfd_create("clump trial", MFD_CLOEXEC));
  const std::string why = has_call ? "" : base::why_refused("memfd_create", errno);
  const int file = base::memory_file("clump trial");
  if (file < 0)
    return trials.fails(kWhat, why, "no job can be described, and /dev/shm, TMPDIR and /tmp have no room");
  void* memory = MAP_FAILED;
  const char* call = "ftruncate";
  if (base::set_size(file, kBytes)) {
    call = "mmap";
    memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  const int error = errno;
  ::close(file);
  if (memory == MAP_FAILED)
    return trials.fails(kWhat, base::why_refused(call, error), "processes of a job can share no memory");
  ::munmap(memory, kBytes);
  has_call ? trials.works(kWhat)
           : trials.falls_back(kWhat, why, "files without a name in /dev/shm, TMPDIR or /tmp");
}

void try_processes(Trials& trials) {
  constexpr const char* kThread = "threads (pthread_create)";
  try {
    std::thread([] {}).join();
    trials.works(kThread);
  } catch (const std::system_error& error) {
    trials.fails(kThread, base::why_refused("pthread_create", error.code().value()), "no rank can start");
  }
  constexpr const char* kProcess = "processes (fork)";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0) return trials.fails(kProcess, base::why_refused("fork", errno), "no job can start");
  ::waitpid(child, nullptr, 0);
  trials.works(kProcess);
}

void try_sockets(Trials& trials) {
  int ends[2];
  constexpr const char* kWhat = "socket pairs, pipes";
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return trials.fails(kWhat, base::why_refused("socketpair", errno), "mpiexec cannot hear of its ranks");
  for (const int end : ends) ::close(end);
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return trials.fails(kWhat, base::why_refused("pipe2", errno), "output of processes cannot be collected");
  for (const int end : ends) ::close(end);
  trials.works(kWhat);
}

void try_fibers(Trials& trials) {
  constexpr const char* kWhat = "ranks as fibers (membarrier)";
  if (has_membarrier()) return trials.works(kWhat);
  trials.falls_back(kWhat, base::why_refused("membarrier", errno),
                    "ranks are threads, as with --scheduler threads");
}

/// Between two children of one process, as ranks are.
bool can_read_sibling(int& error) {
  static int there = 1;
  there = 2;
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return error = errno, false;
  const pid_t read = ::fork();
  if (read == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_PTRACER, ::getppid(), 0, 0, 0);
    there = 3;
    (void)!::write(ready[1], "", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  (void)!::read(ready[0], &byte, 1);
  const pid_t reader = read > 0 ? ::fork() : -1;
  if (reader == 0) {
    int here = 0;
    const iovec mine{&here, sizeof here}, theirs{&there, sizeof there};
    const ssize_t got = ::process_vm_readv(read, &mine, 1, &theirs, 1, 0);
    ::_exit(got == sizeof here && here == 3 ? 0 : got < 0 ? errno : EIO);
  }
  error = errno;
  int status = 0;
  const bool has_run = reader > 0 && ::waitpid(reader, &status, 0) == reader && WIFEXITED(status);
  if (read > 0) {
    ::kill(read, SIGKILL);
    ::waitpid(read, nullptr, 0);
  }
  for (const int end : ready) ::close(end);
  if (has_run) error = WEXITSTATUS(status);
  return has_run && error == 0;
}

void try_other_memory(Trials& trials) {
  constexpr const char* kWhat = "other ranks' memory (process_vm)";
  int error = 0;
  if (can_read_sibling(error)) return trials.works(kWhat);
  trials.falls_back(kWhat, base::why_refused("process_vm_readv", error),
                    "long messages between processes are copied twice, in pieces");
}

void try_signals(Trials& trials) {
  sigset_t none;
  sigemptyset(&none);
  if (opens(::signalfd(-1, &none, SFD_CLOEXEC)))
    trials.works("signals of mpiexec (signalfd)");
  else
    trials.falls_back("signals of mpiexec (signalfd)", base::why_refused("signalfd4", errno),
                      "it looks for them 100 times a second");
  if (opens(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))))
    trials.works("ranks' children (pidfd_open)");
  else
    trials.falls_back("ranks' children (pidfd_open)", base::why_refused("pidfd_open", errno),
                      "ranks that wait for one look for it now and then");
}

void try_cores(Trials& trials) {
  constexpr const char* kWhat = "cores (sched_setaffinity)";
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && ::sched_setaffinity(0, sizeof set, &set) == 0)
    return trials.works(kWhat);
  // With more processors than the set has room for the kernel says so, and Clump takes a larger one.
  if (errno == EINVAL) return trials.works(kWhat);
  trials.falls_back(kWhat, base::why_refused("sched_setaffinity", errno), "workers are kept to no cores");
}

void try_files(Trials& trials) {
  constexpr const char* kProc = "/proc";
  if (::access("/proc/self/maps", R_OK) != 0 || ::access("/proc/self/fd", X_OK) != 0)
    trials.falls_back(kProc, "it is not mounted: mount -t proc proc /proc",
                      "deadlocks are not found while threads are outside MPI, a rank cannot open a library "
                      "of its own with dlopen, "
                      "and what wrapped processes leave behind may outlive the job");
  else
    trials.works(kProc);
  std::error_code none;
  if (std::filesystem::exists("/sys/devices/system/cpu", none))
    trials.works("/sys");
  else
    trials.falls_back("/sys", "it is not mounted: mount -t sysfs sysfs /sys",
                      "which processors share a core, and what a control group allows, is not known");
}

void try_hosts(Trials& trials) {
  constexpr const char* kWhat = "several hosts, --profile";
  const bool has_all = opens(::eventfd(0, EFD_CLOEXEC)) && opens(::epoll_create1(EPOLL_CLOEXEC)) &&
                       opens(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!has_all)
    return trials.lacks(kWhat, base::why_refused("eventfd2, epoll_create1 or timerfd_create", errno),
                        "jobs on several hosts cannot run");
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  addrinfo* found = nullptr;
  const int outcome = ::getaddrinfo(name, nullptr, nullptr, &found);
  if (outcome != 0)
    return trials.lacks(kWhat,
                        fmt::format("the name of this host, {}, is not known: {}; add it to /etc/hosts", name,
                                    ::gai_strerror(outcome)),
                        "other hosts may not find this one");
  ::freeaddrinfo(found);
  trials.works(kWhat);
}

void try_debugging(Trials& trials) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : errno);
  int status = 0;
  if (child > 0 && ::waitpid(child, &status, 0) == child && status != 0 && WIFEXITED(status))
    trials.lacks("debuggers (ptrace)", base::why_refused("ptrace", WEXITSTATUS(status)),
                 "mpiexec --gdb cannot run");
  else
    trials.works("debuggers (ptrace)");
  constexpr unsigned long kAsk = 0xffffffff;
  if (const int now = ::personality(kAsk); now >= 0 && ::personality(static_cast<unsigned long>(now)) >= 0)
    trials.works("same addresses (personality)");
  else
    trials.falls_back("same addresses (personality)", base::why_refused("personality", errno),
                      "runs with the same --seed may differ in their addresses");
  rlimit cores{};
  std::string pattern;
  std::ifstream file("/proc/sys/kernel/core_pattern");
  std::getline(file, pattern);
  if (::getrlimit(RLIMIT_CORE, &cores) == 0 && cores.rlim_cur == 0 && !pattern.starts_with('|'))
    trials.lacks("core files", "RLIMIT_CORE (ulimit -c) is 0; raise it with ulimit -c unlimited",
                 "none are written");
  else
    trials.works(pattern.empty() ? "core files" : fmt::format("core files ({:.20})", pattern));
}

}  // namespace

bool show_trials() {
  Trials trials;
  if (base::program_path().empty())
    trials.fails("own files", "neither /proc nor the command line tells where this program lies",
                 "mpiexec finds no library");
  try_memory(trials);
  try_processes(trials);
  try_sockets(trials);
  try_fibers(trials);
  try_other_memory(trials);
  try_signals(trials);
  try_cores(trials);
  try_files(trials);
  try_hosts(trials);
  try_debugging(trials);
  return trials.is_usable();
}

}  // namespace clump::tools
