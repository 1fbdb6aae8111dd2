#include "host/wake_sources.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/process.h"
#include "host/proc_text.h"
#include "host/state.h"
#include "host/unlisted_timers.h"
#include "process/signals/signals.h"

namespace clump::host {

namespace {

/// The type of the file system of message queues.
constexpr long kQueues = 0x19800202;

/// Timers of timer_create(): those of ranks with images are timers of the kernel, too.
bool any_timer_is_set() {
  const std::unique_ptr<FILE, int (*)(FILE*)> list(std::fopen("/proc/self/timers", "re"), &std::fclose);
  if (!list) {
    static auto& timers = *new UnlistedTimers;  // the observer's own
    return timers.any_is_set();
  }
  std::array<char, 256> line{};
  TimerLines lines(base::process_id());
  while (std::fgets(line.data(), line.size(), list.get()) != nullptr)
    if (lines.add(line.data()) && lines.goes_by_clock() && is_set(lines.number())) return true;
  return false;
}

/// Whether the process `child` has not ended. True if that cannot be known.
bool lives(int child) {
  std::array<char, 64> path{};
  std::array<char, 512> memory{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", child);
  return !is_zombie(read_proc_file(path.data(), memory.data(), memory.size()));
}

bool has_living_child() {
  siginfo_t child;
  // Not waitid(): a rank's children may be its own.
  if (::syscall(SYS_waitid, P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT | __WALL, nullptr) != 0 &&
      errno == ECHILD)
    return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(::opendir("/proc/self/task"), &::closedir);
  if (!threads) return true;
  while (const dirent* const entry = ::readdir(threads.get())) {
    if (std::atoi(entry->d_name) == 0) continue;  // "." and ".."
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/task/%.16s/children", entry->d_name);
    const std::unique_ptr<FILE, int (*)(FILE*)> list(std::fopen(path.data(), "re"), &std::fclose);
    if (!list) return true;
    for (int number = 0; std::fscanf(list.get(), "%d", &number) == 1;)
      if (lives(number)) return true;
  }
  return false;
}

}  // namespace

std::string_view read_proc_file(const char* path, char* memory, std::size_t bytes) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const long read = ::syscall(SYS_read, file, memory, bytes);
  ::close(file);
  return {memory, read > 0 ? static_cast<std::size_t>(read) : 0};
}

bool signal_will_come() {
  itimerval timer{};
  if (::getitimer(ITIMER_REAL, &timer) == 0 && (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0))
    return true;
  return any_timer_is_set() || has_living_child();
}

bool notification_may_come(int socket) {
  // The kernel sends notifications to a socket that nothing else is sent to, as it has no address.
  sockaddr_nl own{};
  socklen_t bytes = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &bytes) != 0 || own.nl_family != AF_NETLINK ||
      own.nl_pid != 0 || own.nl_groups != 0)
    return true;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/fd"), &::closedir);
  if (!all) return true;
  while (const dirent* const entry = ::readdir(all.get())) {
    struct statfs system {};
    if (entry->d_name[0] == '.' || ::fstatfs(std::atoi(entry->d_name), &system) != 0 ||
        system.f_type != kQueues)
      continue;
    // Not by another descriptor of the queue: when this process closes one, it gives up the notification.
    std::array<char, 128> text{};
    const ssize_t read = ::pread(std::atoi(entry->d_name), text.data(), text.size(), 0);
    const int notified = read > 0 ? notified_process_of({text.data(), static_cast<std::size_t>(read)}) : -1;
    if (notified < 0 || notified == base::process_id()) return true;
  }
  return false;
}

bool handles_signals_from_outside() {
  // Not those of faults, of timers and of children, which signal_will_come() looks for; nor SIGQUIT, which is
  // a question to mpiexec.
  constexpr int kOthers[] = {SIGSEGV, SIGBUS,  SIGFPE,    SIGILL,  SIGABRT, SIGSYS,  SIGTRAP, SIGPIPE,
                             SIGALRM, SIGPROF, SIGVTALRM, SIGXCPU, SIGXFSZ, SIGCHLD, SIGQUIT};
  image::signals::Set which = ~image::signals::Set{0};
  for (const int number : kOthers) which &= ~image::signals::bit_of(number);
  return image::signals::any_handler(which);
}

}  // namespace clump::host
