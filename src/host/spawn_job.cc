// Jobs that ranks of this process start by mpiexec: docs/decisions/052-jobs-that-connect.md. Where mpiexec
// may be on another host, it starts them itself: docs/decisions/063-jobs-over-hosts.md.
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
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
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

/// A job that this process starts, or has started. A thread that is none of a rank's does that, and waits for
/// its end: so no rank has its mpiexec for a child.
struct StartedJob {
  struct Start {
    std::string why_not;
    fiber::Completion over;
  };
  pmi::SpawnRequest wanted;
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

/// The mpiexec that is started here. Its signals are as those of a program that a shell starts; it reads
/// nothing.
class Child {
 public:
  std::string start(pmi::SpawnRequest& wanted) {
    const std::string program = find_mpiexec(wanted.environment);
    if (program.empty())
      return fmt::format("mpiexec was not found beside {}, nor in the folders of PATH", own_folder());
    wanted.words.insert(wanted.words.begin(), program);
    const int error = spawn(wanted);
    return error == 0 ? std::string() : base::why_refused("posix_spawn of " + program, error);
  }
  int wait() const {
    int status = 0;
    while (::waitpid(mpiexec_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

 private:
  int spawn(pmi::SpawnRequest& wanted) {
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
    const int error = ::posix_spawn(&mpiexec_, wanted.words.front().c_str(), &files, &attributes,
                                    pointers_to(wanted.words).data(), pointers_to(wanted.environment).data());
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    return error;
  }

  pid_t mpiexec_ = 0;
};

/// The mpiexec that this job's mpiexec starts beside itself.
class Asked {
 public:
  Asked() = default;
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() {
    if (socket_ >= 0) ::close(socket_);
  }

  std::string start(const pmi::SpawnRequest& wanted) {
    const std::string request = pmi::encode(wanted);
    if (request.size() > pmi::SpawnRequest::kMost)
      return fmt::format("arguments and environment have {} bytes: mpiexec takes {} at most", request.size(),
                         pmi::SpawnRequest::kMost);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return base::why_refused("socketpair", errno);
    socket_ = ends[0];
    const bool asks =
        pmi::send(host().control, pmi::encode(pmi::SpawnNote{host().job.process}), std::span(&ends[1], 1));
    ::close(ends[1]);
    if (asks && send(request)) {
      if (const std::optional<pmi::SpawnAnswer> answer = receive()) return answer->why;
    }
    return "mpiexec does not answer: the job ends";
  }
  /// As if it had been killed, if this host's proxy, or mpiexec, has gone.
  int wait() const { return receive().value_or(pmi::SpawnAnswer{SIGKILL, {}}).status; }

 private:
  bool send(std::string_view message) const {
    const auto bytes = static_cast<std::uint32_t>(message.size());
    return send_all({reinterpret_cast<const char*>(&bytes), sizeof bytes}) && send_all(message);
  }
  bool send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EINTR) return false;
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    return true;
  }
  std::optional<pmi::SpawnAnswer> receive() const {
    std::uint32_t bytes = 0;
    if (!receive_all(&bytes, sizeof bytes) || bytes > pmi::SpawnRequest::kMost) return {};
    std::string message(bytes, '\0');
    pmi::SpawnAnswer answer;
    if (!receive_all(message.data(), bytes) || !pmi::decode(message, answer)) return {};
    return answer;
  }
  bool receive_all(void* to, std::size_t bytes) const {
    for (std::size_t got = 0; got < bytes;) {
      const ssize_t more = ::recv(socket_, static_cast<char*>(to) + got, bytes - got, 0);
      if (more == 0 || (more < 0 && errno != EINTR)) return false;
      got += static_cast<std::size_t>(std::max<ssize_t>(more, 0));
    }
    return true;
  }

  int socket_ = -1;
};

template <typename Mpiexec>
void* run_job(void* argument) {
  std::unique_ptr<StartedJob> job(static_cast<StartedJob*>(argument));
  Mpiexec mpiexec;
  std::string why_not = mpiexec.start(job->wanted);
  const bool has_started = why_not.empty();
  if (has_started) {
    const std::lock_guard lock(running_lock);
    ++running;
  }
  job->start.why_not = std::move(why_not);
  job->start.over.signal();
  if (!has_started) return nullptr;
  job->ended(job->argument, mpiexec.wait());
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
  StartedJob::Start start;
  auto job =
      std::unique_ptr<StartedJob>(new StartedJob{{std::move(words), environment}, ended, argument, start});
  const auto run = host().job.has_proxies ? run_job<Asked> : run_job<Child>;
  if (!fiber::start_kernel_thread(run, job.get())) return base::why_refused("pthread_create", errno);
  static_cast<void>(job.release());
  start.over.wait();
  return start.why_not;
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
