// Jobs that ranks of this process start by mpiexec: docs/decisions/052-jobs-that-connect.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/variables.h"
#include "base/why_refused.h"
#include "fiber/worker.h"
#include "host/host.h"
#include "host/state.h"

namespace clump::host {

namespace {

/// A job that this process has started.
struct StartedJob {
  pid_t mpiexec;
  void (*ended)(void* argument, int status);
  void* argument;
};

std::mutex running_lock;
auto& running_changed = *new std::condition_variable;
int running = 0;

/// mpiexec belongs to the same installation as this library; empty: it is not there.
std::string find_mpiexec(const std::vector<std::string>& environment) {
  std::vector<std::string> folders;
  for (const char* const up : {"/../bin", "/../../bin", "/../../../bin"})
    folders.push_back(std::string(own_folder()) + up);
  std::string_view path = base::text_in(environment, "PATH");
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    folders.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  for (const std::string& folder : folders)
    if (std::string name = folder + "/mpiexec"; ::access(name.c_str(), X_OK) == 0) return name;
  return {};
}

void* wait_for_end(void* argument) {
  const auto* const job = static_cast<const StartedJob*>(argument);
  int status = 0;
  // The program may wait for all its children, and get this one's status: then nobody knows it.
  while (::waitpid(job->mpiexec, &status, 0) < 0 && errno == EINTR) {
  }
  job->ended(job->argument, status);
  delete job;
  const std::lock_guard lock(running_lock);
  --running;
  running_changed.notify_all();
  return nullptr;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Its signals are as those of a program that a shell starts; it reads nothing.
int spawn(const std::string& program, std::vector<std::string>& words, std::vector<std::string>& environment,
          pid_t& started) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_init(&files);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const int error = ::posix_spawn(&started, program.c_str(), &files, &attributes, pointers_to(words).data(),
                                  pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

std::string start_mpiexec(std::vector<std::string> words, const std::vector<std::string>& environment,
                          void (*ended)(void* argument, int status), void* argument) {
  const std::string program = find_mpiexec(environment);
  if (program.empty())
    return fmt::format("mpiexec was not found beside {}, nor in the folders of PATH", own_folder());
  words.insert(words.begin(), program);
  std::vector<std::string> its_environment = environment;
  auto* const job = new StartedJob{0, ended, argument};
  if (const int error = spawn(program, words, its_environment, job->mpiexec); error != 0) {
    delete job;
    return base::why_refused("posix_spawn of " + program, error);
  }
  {
    const std::lock_guard lock(running_lock);
    ++running;
  }
  const pid_t mpiexec = job->mpiexec;
  if (fiber::start_kernel_thread(wait_for_end, job)) return {};
  const int error = errno;
  ::kill(mpiexec, SIGTERM);
  ::waitpid(mpiexec, nullptr, 0);
  delete job;
  const std::lock_guard lock(running_lock);
  --running;
  return base::why_refused("pthread_create", error);
}

void wait_for_jobs() {
  std::unique_lock lock(running_lock);
  running_changed.wait(lock, [] { return running == 0; });
}

}  // namespace clump::host
