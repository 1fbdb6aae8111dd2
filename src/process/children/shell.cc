// Commands for the shell: system(), popen(), pclose(). The C library's own would give them the first rank's
// environment, and would count for the whole process which callers ignore the keyboard's signals.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/files/descriptor_owners.h"
#include "process/rank_state.h"

/// pthread_sigmask(), which the headers declare as if no handler could run in it and end the thread.
extern "C" int change_signal_mask(int how, const sigset_t* set, sigset_t* before) asm("pthread_sigmask");

namespace clump::image {
namespace {

/// Starts `sh -c command`; 0, or an error number. `actions` and `attributes` may be null.
int start_shell(const char* command, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, pid_t* child) {
  // "--" comes first, so that a command may begin with a dash.
  const char* arguments[] = {"sh", "-c", "--", command, nullptr};
  return posix_spawn(child, "/bin/sh", actions, attributes, const_cast<char**>(arguments),
                     *current_image().variable(&environ));
}

/// Waits for a child, also if handlers interrupt the wait. Returns its status, or -1 with errno.
int status_of(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

/// While one lives, system() runs: the rank ignores the keyboard's signals, and the calling thread is not
/// told of the child's end. If several threads of a rank have one, the first and the last change the signals.
class Quiet {
 public:
  Quiet() : state_(current_image().state().shell) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    change_signal_mask(SIG_BLOCK, &child, &mask_);
    const std::scoped_lock lock(state_.lock);
    if (state_.commands++ > 0) return;
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &state_.interrupt);
    sigaction(SIGQUIT, &ignore, &state_.quit);
  }
  /// The handler of SIGCHLD may run here, and may end the thread.
  ~Quiet() noexcept(false) {
    const int error = errno;
    {
      const std::scoped_lock lock(state_.lock);
      if (--state_.commands == 0) {
        sigaction(SIGINT, &state_.interrupt, nullptr);
        sigaction(SIGQUIT, &state_.quit, nullptr);
      }
    }
    change_signal_mask(SIG_SETMASK, &mask_, nullptr);
    errno = error;
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  int start(const char* command, pid_t* child) const {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t restored;
    sigemptyset(&restored);
    if (state_.interrupt.sa_handler != SIG_IGN) sigaddset(&restored, SIGINT);
    if (state_.quit.sa_handler != SIG_IGN) sigaddset(&restored, SIGQUIT);
    posix_spawnattr_setsigdefault(&attributes, &restored);
    posix_spawnattr_setsigmask(&attributes, &mask_);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const int error = start_shell(command, nullptr, &attributes, child);
    posix_spawnattr_destroy(&attributes);
    return error;
  }

 private:
  ShellState& state_;
  sigset_t mask_{};
};

/// A stream that popen() has made, and the command at its other end.
struct Piped {
  FILE* stream;
  pid_t child;
};

constinit ForkMutex piped_lock;
auto& piped = *new std::vector<Piped>;

/// The process of a stream; negative: popen() has not made this stream, or not for a rank with an image.
pid_t take_piped(FILE* stream) {
  const std::scoped_lock lock(piped_lock);
  for (Piped& one : piped) {
    if (one.stream != stream) continue;
    const pid_t child = one.child;
    one = piped.back();
    piped.pop_back();
    return child;
  }
  return -1;
}

/// Makes the command's end of the pipe its standard input or output. Commands that other ranks start must not
/// inherit any end: a command would wait for the end of its input for ever.
FILE* open_pipe(const char* command, bool reads) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const int ours = reads ? ends[0] : ends[1], theirs = reads ? ends[1] : ends[0];
  FILE* const stream = fdopen(ours, reads ? "r" : "w");
  owners::note_for_rank(ours, stream);
  pid_t child = 0;
  int error = stream != nullptr ? 0 : errno;
  if (error == 0) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
    error = start_shell(command, &actions, nullptr, &child);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(theirs);
  if (error != 0) {
    stream != nullptr ? static_cast<void>(fclose(stream)) : static_cast<void>(close(ours));
    errno = error;
    return nullptr;
  }
  const std::scoped_lock lock(piped_lock);
  // fclose() may have closed an earlier stream at this address.
  std::erase_if(piped, [&](const Piped& one) { return one.stream == stream; });
  piped.push_back({stream, child});
  return stream;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int system(const char* command) {
  static constinit Hidden<int(const char*)> real{"system"};
  if (command == nullptr || !records_children()) return real(command);
  const Quiet quiet;
  pid_t child = 0;
  if (quiet.start(command, &child) != 0) return 127 << 8;  // as if the shell had not been found
  return status_of(child);
}

CLUMP_HOST_API FILE* popen(const char* command, const char* mode) {
  static constinit Hidden<FILE*(const char*, const char*)> real{"popen"};
  if (!records_children()) return real(command, mode);
  bool reads = false, writes = false;
  for (const char* letter = mode; *letter != '\0'; ++letter) {
    reads = reads || *letter == 'r';
    writes = writes || *letter == 'w';
    if (std::strchr("rwe", *letter) == nullptr) reads = writes = true;
  }
  if (reads == writes) {
    errno = EINVAL;
    return nullptr;
  }
  return open_pipe(command, reads);
}

CLUMP_HOST_API int pclose(FILE* stream) {
  static constinit Hidden<int(FILE*)> real{"pclose"};
  const pid_t child = captured() ? take_piped(stream) : -1;
  if (child < 0) return real(stream);
  fclose(stream);
  return status_of(child);
}

}  // extern "C"
