#include "host/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "fiber/fiber.h"
#include "fiber/monitor.h"
#include "fiber/worker.h"
#include "image/signals.h"
#include "host/proc_text.h"
#include "host/state.h"

extern "C" [[gnu::weak]] void __tsan_init();

namespace clump::host {

namespace {

/// What a file of /proc/self says, as much as fits; empty if it cannot be read.
template <std::size_t size>
std::string_view read_file(const char* path, std::array<char, size>& room) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const long bytes = ::syscall(SYS_read, file, room.data(), room.size());
  ::close(file);
  return {room.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

/// Whether a process that is none of the job's may have the memory at this address. For those that are, the
/// job looks.
bool is_shared_memory(std::uint64_t address) {
  const pmi::Job& job = host().job;
  const auto nodes = reinterpret_cast<std::uintptr_t>(&host().node.host(job.this_node().first));
  if (address - nodes < pmi::NodeMemory::end(job)) return false;
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
  if (!maps) return true;
  char* line = nullptr;
  std::size_t room = 0;
  bool is_shared = true;
  while (::getline(&line, &room, maps.get()) > 0) {
    std::uint64_t begin = 0, end = 0;
    char access[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &begin, &end, access) != 3) break;
    if (address < begin || address >= end) continue;
    is_shared = access[3] != 'p';
    break;
  }
  std::free(line);
  return is_shared;
}

/// A signal that is sure to come may have a handler that wakes a thread.
bool signals_will_come() {
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    if (::getitimer(which, &timer) == 0 && (timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0))
      return true;
  }
  if (image::signals::any_timer()) return true;
  std::array<char, 16> room{};  // of a plain process; not all kernels tell
  if (!read_file("/proc/self/timers", room).empty()) return true;
  siginfo_t child;
  // Not waitid(): a rank's children may be its own.
  return ::syscall(SYS_waitid, P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT | __WALL, nullptr) == 0 ||
         errno != ECHILD;
}

}  // namespace

bool Tasks::look_at(pid_t thread, std::vector<Task>& tasks) const {
  std::array<char, 64> path{};
  std::array<char, 4096> room{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/syscall", thread);
  const FutexWait wait = futex_wait_of(read_file(path.data(), room));
  if (wait.address == 0) return false;
  if (wakers_ == Wakers::kThreads && !wait.is_private && is_shared_memory(wait.address)) return false;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/status", thread);
  tasks.push_back({thread, wait.address, switches_of(read_file(path.data(), room))});
  return tasks.back().switches != kNoSwitches;
}

bool Tasks::look(std::vector<Task>& tasks) const {
  if (fiber::monitor::has_to_do()) return false;
  if (wakers_ == Wakers::kThreads && signals_will_come()) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/task"), &::closedir);
  if (!all) return false;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  while (const dirent* const entry = ::readdir(all.get())) {
    const pid_t thread = std::atoi(entry->d_name);  // "." and ".." give 0
    if (thread == 0 || thread == self || thread == fiber::monitor::thread()) continue;
    if (!look_at(thread, tasks)) return false;
  }
  return true;
}

bool Tasks::are_still(std::chrono::milliseconds least) {
  // It does not know the observer, which must not allocate there.
  if (__tsan_init != nullptr) return false;
  std::vector<Task> now;
  const auto time = std::chrono::steady_clock::now();
  if (!look(now)) now.clear();
  if (!now.empty() && now == last_) return time - looked_ >= least;
  last_ = std::move(now);
  looked_ = time;
  return false;
}

}  // namespace clump::host
