// Jobs that ranks of this process start by mpiexec: docs/decisions/052-jobs-that-connect.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/variables.h"
#include "base/why_refused.h"
#include "fiber/completion.h"
#include "fiber/worker.h"
#include "host/host.h"
#include "host/state.h"

namespace clump::host {

namespace {

/// A job that this process starts. A thread that is none of a rank's does that, and waits for its end: so no
/// rank has its mpiexec for a child.
struct StartedJob {
  struct Start {
    int error = 0;
    fiber::Completion over;
  };
  std::string program;
  std::vector<std::string> words, environment;
  void (*ended)(void* argument, int status);
  void* argument;
  Start& start;  ///< the caller's, until it is over
};

std::mutex running_lock;
auto& running_changed = *new std::condition_variable;
int running = 0;

/// mpiexec belongs to the same installation as this library; empty: it is not there.
std::string find_mpiexec(const std::vector<std::string>& environment) {
  std::vector<std::string> folders;
  for (const char* const up : {"/../bin", "/../../bin", "/../../../bin"})
    folders.push_back(std::string(own_folder()) + up);
  const std::string all = base::text_in(environment, "PATH");
  std::string_view path = all;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    if (path.starts_with('/')) folders.emplace_back(path.substr(0, end));  // not where the program stands
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  for (const std::string& folder : folders)
    if (std::string name = folder + "/mpiexec"; ::access(name.c_str(), X_OK) == 0) return name;
  return {};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Its signals are as those of a program that a shell starts; it reads nothing.
int spawn(StartedJob& job, pid_t& mpiexec) {
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
  const int error = ::posix_spawn(&mpiexec, job.program.c_str(), &files, &attributes,
                                  pointers_to(job.words).data(), pointers_to(job.environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

void* run_job(void* argument) {
  std::unique_ptr<StartedJob> job(static_cast<StartedJob*>(argument));
  pid_t mpiexec = 0;
  const int error = spawn(*job, mpiexec);
  if (error == 0) {
    const std::lock_guard lock(running_lock);
    ++running;
  }
  job->start.error = error;
  job->start.over.signal();
  if (error != 0) return nullptr;
  int status = 0;
  while (::waitpid(mpiexec, &status, 0) < 0 && errno == EINTR) {
  }
  job->ended(job->argument, status);
  job.reset();  // with running == 0 the process may end
  const std::lock_guard lock(running_lock);
  --running;
  running_changed.notify_all();
  return nullptr;
}

}  // namespace

std::string start_mpiexec(std::vector<std::string> words, const std::vector<std::string>& environment,
                          void (*ended)(void* argument, int status), void* argument) {
  if (base::has_rights_of_file())
    return "this program has the rights of its file (set-user-ID, set-group-ID or capabilities), and mpiexec "
           "would obey the environment of its caller with them: start it without these rights";
  const std::string program = find_mpiexec(environment);
  if (program.empty())
    return fmt::format("mpiexec was not found beside {}, nor in the folders of PATH", own_folder());
  words.insert(words.begin(), program);
  StartedJob::Start start;
  auto job = std::unique_ptr<StartedJob>(
      new StartedJob{program, std::move(words), environment, ended, argument, start});
  if (!fiber::start_kernel_thread(run_job, job.get())) return base::why_refused("pthread_create", errno);
  static_cast<void>(job.release());
  start.over.wait();
  return start.error == 0 ? std::string() : base::why_refused("posix_spawn of " + program, start.error);
}

void note_failed_job(int rank, int code) {
  if (!host().started_by_mpiexec()) return;
  const std::string packet = pmi::encode(pmi::StartedJobNote{rank, code});
  (void)!::send(host().control, packet.data(), packet.size(), MSG_NOSIGNAL);
}

void let_a_job_end(std::chrono::milliseconds limit) {
  std::unique_lock lock(running_lock);
  const int before = running;
  if (before > 0) running_changed.wait_for(lock, limit, [&] { return running < before; });
}

void wait_for_jobs() {
  std::unique_lock lock(running_lock);
  running_changed.wait(lock, [] { return running == 0; });
}

}  // namespace clump::host
