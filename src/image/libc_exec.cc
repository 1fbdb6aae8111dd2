// Programs that a rank starts see the rank's environment: functions that take it from `environ`, which is the
// native rank's. Those that are given an environment (execve, posix_spawn) need no help.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <vector>

#include "base/types.h"
#include "image/cores.h"
#include "image/rank_image.h"
#include "image/standard.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

char** rank_environment() { return *current_image().variable(&environ); }

/// The arguments of execl() and its kin, up to and with the null that ends them.
std::vector<char*> collect(const char* first, va_list rest) {
  std::vector<char*> arguments{const_cast<char*>(first)};
  while (arguments.back() != nullptr) arguments.push_back(va_arg(rest, char*));
  return arguments;
}

/// What system() does while the shell runs: the process ignores the keyboard's signals, the thread is not
/// told of the child's end.
class Quiet {
 public:
  Quiet() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &mask_);
  }
  ~Quiet() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  int spawn(const char* command, pid_t* child) const {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t restored;
    sigemptyset(&restored);
    if (interrupt_.sa_handler != SIG_IGN) sigaddset(&restored, SIGINT);
    if (quit_.sa_handler != SIG_IGN) sigaddset(&restored, SIGQUIT);
    posix_spawnattr_setsigdefault(&attributes, &restored);
    posix_spawnattr_setsigmask(&attributes, &mask_);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const char* arguments[] = {"sh", "-c", command, nullptr};
    const int error = posix_spawn(child, "/bin/sh", nullptr, &attributes, const_cast<char**>(arguments),
                                  rank_environment());
    posix_spawnattr_destroy(&attributes);
    return error;
  }

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
  sigset_t mask_{};
};

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int execv(const char* path, char* const* arguments) {
  return execve(path, arguments, rank_environment());
}

CLUMP_HOST_API int execvp(const char* file, char* const* arguments) {
  return execvpe(file, arguments, rank_environment());
}

CLUMP_HOST_API int execl(const char* path, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = collect(first, rest);
  va_end(rest);
  return execve(path, arguments.data(), rank_environment());
}

CLUMP_HOST_API int execlp(const char* file, const char* first, ...) {
  va_list rest;
  va_start(rest, first);
  const std::vector<char*> arguments = collect(first, rest);
  va_end(rest);
  return execvpe(file, arguments.data(), rank_environment());
}

CLUMP_HOST_API int system(const char* command) {
  static constinit Hidden<int(const char*)> real{"system"};
  if (command == nullptr || !captured()) return real(command);
  if (current_image().native() && standard::is_home()) {
    const WithCoresOfFiber wide;
    return real(command);
  }
  const Quiet quiet;
  pid_t child = 0;
  if (quiet.spawn(command, &child) != 0) return 127 << 8;  // as if the shell had not been found
  int status = -1;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // extern "C"
