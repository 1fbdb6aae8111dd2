#include "job/descendants.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kLookAtChildren{5};  ///< so often, whether children have ended
/// For waitpid(): children of the calling thread, which children() has, too. The relay thread of a proxy has
/// a supervisor of its own. What its parent leaves behind becomes the main thread's.
constexpr int kOwn = __WNOTHREAD;

/// The numbers of a process in the PID namespace for which /proc was mounted, and in those below it, down to
/// its own. Empty if the process has ended, or the kernel does not tell.
std::vector<pid_t> numbers_of(const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  std::vector<pid_t> numbers;
  for (std::string word; status >> word;) {
    if (word != "NSpid:") continue;
    for (pid_t number; status.peek() != '\n' && status >> number;) numbers.push_back(number);
    break;
  }
  return numbers;
}

/// This process in /proc. Its number there is not getpid() if /proc was mounted for a PID namespace above.
/// 0: it is not there.
pid_t number_in_proc() {
  char text[16] = {};
  return ::readlink("/proc/self", text, sizeof text - 1) > 0 ? std::atoi(text) : 0;
}

/// The children as /proc numbers them; `self`: number_in_proc().
std::vector<pid_t> children_in_proc(pid_t self) {
  std::vector<pid_t> found;
  std::ifstream list("/proc/thread-self/children");
  for (pid_t child; list >> child;) found.push_back(child);
  if (list.is_open()) return found;
  // A kernel without CONFIG_PROC_CHILDREN: ask every process for its parent.
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    int parent = 0;
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || ::sscanf(text.c_str() + name_end + 1, " %*c %d", &parent) != 1)
      continue;
    if (parent == self) found.push_back(std::atoi(entry.path().filename().c_str()));
  }
  return found;
}

/// The children as this process knows them. Nothing: /proc does not tell.
std::optional<std::vector<pid_t>> children() {
  const pid_t self = number_in_proc();
  if (self == 0) return {};
  const std::size_t depth = numbers_of("self").size();  // of this process's PID namespace below that of /proc
  if (depth == 0 && self != ::getpid()) return {};
  std::vector<pid_t> found = children_in_proc(self);
  if (depth <= 1) return found;
  for (pid_t& child : found) {
    const std::vector<pid_t> numbers = numbers_of(std::to_string(child));
    if (numbers.size() < depth) return {};
    child = numbers[depth - 1];
  }
  return found;
}

/// Where nothing tells which children there are: those that are known, and the groups that they lead.
void kill_known(const std::vector<pid_t>& known) {
  for (const pid_t child : known) {
    if (child <= 0) continue;
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace

void kill_descendants(const std::vector<pid_t>& known) {
  for (;;) {
    const std::optional<std::vector<pid_t>> left = children();
    if (!left) return kill_known(known);
    for (const pid_t child : *left) ::kill(child, SIGKILL);
    if (::waitpid(-1, nullptr, kOwn) < 0 && errno == ECHILD) return;
  }
}

void end_descendants(std::chrono::milliseconds grace, Sessions sessions, std::vector<pid_t> known) {
  const auto kill_at = std::chrono::steady_clock::now() + grace;
  const pid_t session = ::getsid(0);
  // Numbers of processes that are not reaped yet, or nearly: they are not used again so soon.
  std::set<pid_t> asked;
  for (;; std::this_thread::sleep_for(kLookAtChildren)) {
    while (const pid_t ended = ::waitpid(-1, nullptr, kOwn | WNOHANG)) {
      if (ended < 0) break;
      std::erase(known, ended);  // the number may become another process's
    }
    std::vector<pid_t> left = children().value_or(known);
    std::erase_if(left, [](pid_t child) { return child <= 0; });
    if (sessions == Sessions::kOwn)
      std::erase_if(left, [&](pid_t child) { return ::getsid(child) != session; });
    if (left.empty()) return;
    const bool is_over = std::chrono::steady_clock::now() >= kill_at;
    for (const pid_t child : left)
      if (is_over || asked.insert(child).second) ::kill(child, is_over ? SIGKILL : SIGTERM);
  }
}

}  // namespace clump::mpiexec
