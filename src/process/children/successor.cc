#include "process/children/successor.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "fiber/fiber.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/children/personality.h"
#include "process/children/spawn.h"
#include "process/files/output.h"
#include "process/files/standard.h"
#include "process/libc/exit.h"
#include "process/rank_state.h"
#include "process/signals/signals.h"
#include "process/threads/cores.h"

namespace clump::image {
namespace {

const SuccessorHooks* hooks = nullptr;

/// Passes on what a successor writes to stdout or stderr to the job's stream that this is to the rank.
class Relay {
 public:
  Relay(output::RankOutput& output, int target) : target_(target) {
    // A file of the rank's own needs no relay: standard::ChildActions passes it on.
    const int stream = standard::place_of_standard(target).stream;
    if (stream == STDOUT_FILENO || stream == STDERR_FILENO) stream_ = &output.stream(stream);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay() { close_all(); }

  /// Opens the relay, if the rank's lines have to be distinguished from those of others. 0, or an error
  /// number.
  int open(posix_spawn_file_actions_t& actions) {
    if (stream_ == nullptr || stream_->goes_straight_out()) return 0;
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) return errno;
    posix_spawn_file_actions_adddup2(&actions, ends_[1], target_);
    return 0;
  }
  void close_end_of_successor() {
    if (ends_[1] >= 0) close(std::exchange(ends_[1], -1));
  }
  int descriptor() const { return ends_[0]; }
  /// Passes on what there is, without waiting for more.
  void pass_on() {
    char bytes[16 << 10];
    for (pollfd state{ends_[0], POLLIN, 0}; ends_[0] >= 0 && poll(&state, 1, 0) > 0;) {
      const long got = syscall(SYS_read, ends_[0], bytes, sizeof bytes);
      if (got > 0)
        stream_->append({bytes, static_cast<std::size_t>(got)});
      else if (got == 0 || errno != EINTR)
        close(std::exchange(ends_[0], -1));
    }
  }

 private:
  void close_all() {
    for (int& end : ends_)
      if (end >= 0) close(std::exchange(end, -1));
  }

  output::Stream* stream_ = nullptr;
  int target_;
  std::array<int, 2> ends_{-1, -1};
};

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

/// `environment` with the variables of the passport, which owns their texts.
std::vector<char*> with_variables(char* const* environment, const Passport& passport) {
  std::vector<char*> all;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    bool is_replaced = false;
    for (const std::string& variable : passport.variables)
      is_replaced = is_replaced || name_of(variable) == name_of(*environment);
    if (!is_replaced) all.push_back(*environment);
  }
  for (const std::string& variable : passport.variables) all.push_back(const_cast<char*>(variable.c_str()));
  all.push_back(nullptr);
  return all;
}

/// Starts the process of the program, in the state in which exec() would have left this process. 0, or an
/// error number.
int start(const char* path, char* const* arguments, char* const* environment, const Passport& passport,
          posix_spawn_file_actions_t& actions, pid_t& child) {
  for (const int descriptor : passport.descriptors)
    posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor);  // this takes close-on-exec away
  const standard::ChildActions all_actions(&actions);
  if (all_actions.error() != 0) return all_actions.error();
  const std::vector<char*> all = with_variables(environment, passport);
  const WithCoresOfFiber wide;
  const WithPersonalityOfFiber same;
  KeptByExec kept;
  constexpr itimerval kNoTimer{};
  for (const __itimer_which_t which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
    (void)setitimer(which, &kNoTimer, &kept.timers[which]);  // the successor's from now on
  // How the successor ends is this rank's to tell: the kernel must keep it. The successor ignores SIGCHLD if
  // the rank does.
  struct sigaction before {};
  (void)sigaction(SIGCHLD, nullptr, &before);
  const bool is_ignored = before.sa_handler == SIG_IGN;
  const bool loses_end = is_ignored || (before.sa_flags & SA_NOCLDWAIT) != 0;
  if (is_ignored) kept.ignored = signals::bit_of(SIGCHLD);
  kept.count = signals::pending_for_exec(signals::mine(), kept.pending);
  if (loses_end) {
    struct sigaction tells_end = before;
    if (is_ignored) tells_end.sa_handler = SIG_DFL;
    tells_end.sa_flags &= ~SA_NOCLDWAIT;
    (void)sigaction(SIGCHLD, &tells_end, nullptr);
  }
  const int failure =
      spawn_for_rank(&child, {path, all_actions.get(), nullptr, arguments, all.data(), &kept});
  if (failure != 0) {
    if (loses_end) (void)sigaction(SIGCHLD, &before, nullptr);
    for (const __itimer_which_t which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
      (void)setitimer(which, &kept.timers[which], nullptr);
  }
  return failure;
}

/// Waits for the end of the successor and returns its status. Processes that it has left may go on, but their
/// output is not passed on.
int follow(pid_t child, Relay& out, Relay& error) {
  static constinit Hidden<pid_t(pid_t, int*, int)> real{"waitpid"};
  int status = 0;
  if (out.descriptor() >= 0 || error.descriptor() >= 0) {
    const int end = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    for (bool runs = true; runs;) {
      std::array<pollfd, 3> all{
          {{end, POLLIN, 0}, {out.descriptor(), POLLIN, 0}, {error.descriptor(), POLLIN, 0}}};
      (void)poll(all.data(), all.size(), end >= 0 ? -1 : 20);
      runs = real(child, &status, WNOHANG) == 0;
      out.pass_on();
      error.pass_on();
    }
    return status;
  }
  while (real(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void set_successor_hooks(const SuccessorHooks& chosen) { hooks = &chosen; }

int replace_rank(const char* path, char* const* arguments, char* const* environment) {
  Image& image = current_image();
  pid_t child = 0;
  int failure = 0;
  Relay out(image.state().output, STDOUT_FILENO);
  Relay error(image.state().output, STDERR_FILENO);
  {
    const Passport passport = hooks->prepare(*image.identity(), environment);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    failure = out.open(actions);
    if (failure == 0) failure = error.open(actions);
    if (failure == 0) {
      (void)image.state().output.flush();
      failure = start(path, arguments, environment, passport, actions, child);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  if (failure != 0) {
    errno = failure;
    return -1;
  }
  hooks->started(*image.identity());
  note_successor(child);
  signals::pass_on_to(child);
  claim_leaving(image);
  out.close_end_of_successor();
  error.close_end_of_successor();
  owners::close_all(image, false);  // the successor has them
  const int status = follow(child, out, error);
  forget_child(find_child(child));
  (void)image.state().output.end();
  image.state().exit.skipped_handlers = true;
  hooks->ended(*image.identity(), status);
  std::abort();
}

}  // namespace clump::image
