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
#include <set>
#include <string>
#include <thread>

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kLookAtChildren{5};  ///< so often, whether children have ended

std::vector<pid_t> children() {
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
    if (parent == ::getpid()) found.push_back(std::atoi(entry.path().filename().c_str()));
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
  if (::access("/proc/self", F_OK) != 0) return kill_known(known);
  for (;;) {
    for (const pid_t child : children()) ::kill(child, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

void end_descendants(std::chrono::milliseconds grace, Sessions sessions) {
  const auto kill_at = std::chrono::steady_clock::now() + grace;
  const pid_t session = ::getsid(0);
  std::set<pid_t> asked;  // numbers of processes that are not reaped yet, or nearly: they are not used again so soon
  for (;; std::this_thread::sleep_for(kLookAtChildren)) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    std::vector<pid_t> left = children();
    if (sessions == Sessions::kOwn)
      std::erase_if(left, [&](pid_t child) { return ::getsid(child) != session; });
    if (left.empty()) return;
    const bool is_over = std::chrono::steady_clock::now() >= kill_at;
    for (const pid_t child : left)
      if (is_over || asked.insert(child).second) ::kill(child, is_over ? SIGKILL : SIGTERM);
  }
}

}  // namespace clump::mpiexec
