#include "host/wake_sources.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "host/proc_text.h"
#include "host/state.h"
#include "image/signals.h"

namespace clump::host {

namespace {

/// A kernel that does not list a process's timers may have those with these numbers.
constexpr int kFirstTimers = 256;

bool is_set(int timer) {
  itimerspec now{};
  return ::syscall(SYS_timer_gettime, timer, &now) == 0 &&
         (now.it_value.tv_sec != 0 || now.it_value.tv_nsec != 0);
}

/// Timers of timer_create(): those of ranks with images are timers of the kernel, too.
bool any_timer_is_set() {
  const std::unique_ptr<FILE, int (*)(FILE*)> list(std::fopen("/proc/self/timers", "re"), &std::fclose);
  if (!list) {
    for (int timer = 0; timer < kFirstTimers; ++timer)
      if (is_set(timer)) return true;
    return false;
  }
  std::array<char, 256> line{};
  TimerLines lines;
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
