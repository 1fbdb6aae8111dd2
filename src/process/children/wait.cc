// A rank waits for its own children only. The kernel would give it those of every rank of the process: so
// "any child" is decided here, among those that the rank has started (children.h), and the kernel is asked
// about each of them by its number.
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/ids.h"

namespace clump::image {
namespace {

// A thread that waits for any child looks again after so long, in milliseconds, where the kernel would not
// wake it: for a child that another thread has started meanwhile or has waited for, and for one that stops or
// goes on.
constexpr int kLookForOthers = 50, kLookForStops = 5;

/// Children for which one poll() can wait without memory from the heap, which is not for signal handlers.
constexpr std::size_t kMostPolled = 64;

/// Which of its children the caller means: one, those of a process group, or all. A group that has been made
/// outside of the PID namespace has the number 0.
struct Wanted {
  static constexpr pid_t kAnyGroup = -1;
  pid_t process = 0;  ///< 0: several
  pid_t group = kAnyGroup;

  bool includes(pid_t child) const { return group == kAnyGroup || getpgid(child) == group; }
};

/// P_PIDFD, which older headers do not have.
constexpr auto kByDescriptor = static_cast<idtype_t>(3);

/// How to ask the kernel about one child: wait4() and waitid() differ in what they tell.
class Question {
 public:
  enum class Answer { kNothing, kChanged, kEnded, kFailed };

  /// 0 in `options` besides WNOHANG: as the caller of the C library has given them.
  virtual Answer ask(pid_t child, int options) = 0;

 protected:
  ~Question() = default;
};

class ByWait4 final : public Question {
 public:
  ByWait4(int* status, rusage* usage) : status_(status), usage_(usage) {}

  Answer ask(pid_t child, int options) override {
    static constinit Hidden<pid_t(pid_t, int*, int, rusage*)> real{"wait4"};
    int status = 0;
    rusage usage;
    found_ = real(child, &status, options, &usage);
    if (found_ < 0) return Answer::kFailed;
    if (found_ == 0) return Answer::kNothing;
    if (status_ != nullptr) *status_ = status;
    if (usage_ != nullptr) *usage_ = usage;
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) return Answer::kChanged;
    count_usage(usage);
    return Answer::kEnded;
  }
  pid_t found() const { return found_; }

 private:
  int* status_;
  rusage* usage_;
  pid_t found_ = 0;
};

/// The C library's function does not tell what the child has used.
int ask_kernel(idtype_t type, id_t id, siginfo_t* info, int options, rusage* usage) {
  return static_cast<int>(syscall(SYS_waitid, type, id, info, options, usage));
}

class ByWaitid final : public Question {
 public:
  /// `descriptor`: a pidfd of the child that is asked about; negative: its number is used.
  ByWaitid(siginfo_t* info, int descriptor, rusage* usage)
      : info_(info), descriptor_(descriptor), usage_(usage) {}

  Answer ask(pid_t child, int options) override {
    siginfo_t found;
    std::memset(&found, 0, sizeof found);
    const bool by_number = descriptor_ < 0;
    const auto id = static_cast<id_t>(by_number ? child : descriptor_);
    rusage usage;
    const idtype_t type = by_number ? P_PID : kByDescriptor;
    const bool waits = (options & WNOHANG) == 0;
    do {
      // The C library's function is a cancellation point; the system call tells what the child has used.
      static constinit Hidden<int(idtype_t, id_t, siginfo_t*, int)> wait{"waitid"};
      if (waits && wait(type, id, &found, options | WNOWAIT) != 0) return Answer::kFailed;
      std::memset(&found, 0, sizeof found);
      if (ask_kernel(type, id, &found, options | WNOHANG, &usage) != 0) return Answer::kFailed;
    } while (waits && found.si_pid == 0);  // another thread has waited for the child meanwhile
    if (found.si_pid == 0) return Answer::kNothing;
    if (info_ != nullptr) *info_ = found;
    if (usage_ != nullptr) *usage_ = usage;
    const bool ended =
        found.si_code == CLD_EXITED || found.si_code == CLD_KILLED || found.si_code == CLD_DUMPED;
    if (!ended || (options & WNOWAIT) != 0) return Answer::kChanged;
    count_usage(usage);
    return Answer::kEnded;
  }

 private:
  siginfo_t* info_;
  int descriptor_;
  rusage* usage_;
};

/// poll() is cut short by every signal handler, wait() by those without SA_RESTART only.
bool some_handler_interrupts() {
  for (int number = 1; number < SIGRTMAX; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || (action.sa_flags & SA_RESTART) != 0) continue;
    const bool is_fault =
        number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGABRT;
    if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && !is_fault) return true;
  }
  return false;
}

/// Descriptors of children, on the stack: waitpid() is async-signal-safe. Closed also if the thread is
/// cancelled while it waits.
class Watched {
 public:
  Watched() = default;
  ~Watched() {
    const int error = errno;
    for (std::size_t i = 0; i < count_; ++i) syscall(SYS_close, all_[i].fd);
    errno = error;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  bool is_full() const { return count_ == all_.size(); }
  /// False if no descriptors are left, or on an old kernel.
  bool add(pid_t child) {
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    if (descriptor >= 0) all_[count_++] = {descriptor, POLLIN, 0};
    return descriptor >= 0;
  }
  int wait(int milliseconds) { return poll(all_.data(), count_, milliseconds); }

 private:
  std::array<pollfd, kMostPolled> all_;
  std::size_t count_ = 0;
};

/// Sleeps until one of the caller's children may have something to tell. False with EINTR if a signal handler
/// has ended that.
bool sleep_until_news(const fiber::Identity* me, const Wanted& wanted, bool also_stops) {
  Watched watched;
  bool has_more = false;
  for (auto child = next_child_of(me, {}); child; child = next_child_of(me, child)) {
    if (!wanted.includes(child.process)) continue;
    if (watched.is_full()) {
      has_more = true;
      break;
    }
    if (!watched.add(child.process)) has_more = true;
  }
  const bool has_threads = me->threaded.load(std::memory_order_relaxed);
  const int limit = also_stops || has_more ? kLookForStops : has_threads ? kLookForOthers : -1;
  return watched.wait(limit) >= 0 || errno != EINTR || !some_handler_interrupts();
}

/// The kernel forgets children of such a process when they end; what it does for ours is for all ranks.
bool wants_no_zombies() {
  struct sigaction action {};
  if (sigaction(SIGCHLD, nullptr, &action) != 0) return false;
  return action.sa_handler == SIG_IGN || (action.sa_flags & SA_NOCLDWAIT) != 0;
}

/// What the question about one child has brought: nothing of its end, if the caller wants no zombies.
Question::Answer ask_of(Question& question, pid_t child, int options) {
  const Question::Answer answer = question.ask(child, options);
  if (answer != Question::Answer::kEnded || !wants_no_zombies()) return answer;
  errno = ECHILD;
  return Question::Answer::kFailed;
}

/// Of those of the caller's children that it means, one that has something to tell. `stops` are the options
/// that ask for children which stop or go on.
Question::Answer wait_for_any(const Wanted& wanted, int options, int stops, Question& question) {
  using Answer = Question::Answer;
  const fiber::Identity* const me = current_image().identity();
  for (;;) {
    ChildTable::Found only;
    int count = 0;
    for (auto child = next_child_of(me, {}); child; child = next_child_of(me, child)) {
      if (!wanted.includes(child.process)) continue;
      const Answer answer = ask_of(question, child.process, options | WNOHANG);
      if (answer == Answer::kChanged) return answer;
      if (answer == Answer::kFailed && errno != ECHILD) return answer;
      // Without SIGCHLD the kernel forgets children when they end.
      if (answer != Answer::kNothing) forget_child(child);
      if (answer == Answer::kEnded) return answer;
      if (answer == Answer::kFailed) continue;
      only = child;
      ++count;
    }
    if (count == 0) {
      errno = ECHILD;
      return Answer::kFailed;
    }
    if ((options & WNOHANG) != 0) return Answer::kNothing;
    if (count == 1 && !me->threaded.load(std::memory_order_relaxed)) {
      // The kernel knows best which signal handlers end this.
      const Answer answer = ask_of(question, only.process, options);
      if (answer == Answer::kEnded || (answer == Answer::kFailed && errno == ECHILD)) forget_child(only);
      if (answer != Answer::kFailed || errno != ECHILD) return answer;
    } else if (!sleep_until_news(me, wanted, stops != 0)) {
      return Answer::kFailed;
    }
  }
}

/// One child by its number: the kernel knows whether it is the process's, and we whether it is another
/// rank's.
Question::Answer wait_for_one(pid_t process, int options, Question& question) {
  const ChildTable::Found child = find_child(process);
  if (child && child.owner != current_image().identity()) {
    errno = ECHILD;
    return Question::Answer::kFailed;
  }
  const Question::Answer answer = ask_of(question, process, options);
  const bool is_gone = answer == Question::Answer::kFailed && errno == ECHILD;
  if (answer == Question::Answer::kEnded || is_gone) forget_child(child);
  return answer;
}

Question::Answer answer(const Wanted& wanted, int options, int stops, Question& question) {
  return wanted.process != 0 ? wait_for_one(wanted.process, options, question)
                             : wait_for_any(wanted, options, stops, question);
}

pid_t wait_by_number(pid_t process, int* status, int options, rusage* usage) {
  constexpr int kKnown = WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | static_cast<int>(__WCLONE);
  if ((options & ~kKnown) != 0) {
    errno = EINVAL;
    return -1;
  }
  options &= ~__WNOTHREAD;  // a rank's thread of control is run by several kernel threads
  Wanted wanted{.process = process > 0 ? process : 0};
  if (process < -1) wanted.group = -process;
  if (process == 0) wanted.group = getpgrp();
  ByWait4 question(status, usage);
  switch (answer(wanted, options, options & (WUNTRACED | WCONTINUED), question)) {
    case Question::Answer::kNothing:
      return 0;
    case Question::Answer::kFailed:
      return -1;
    case Question::Answer::kChanged:
    case Question::Answer::kEnded:
      break;
  }
  return question.found();
}

}  // namespace

int wait_by_id(idtype_t type, id_t id, siginfo_t* info, int options, rusage* usage) {
  constexpr int kStates = WEXITED | WSTOPPED | WCONTINUED;
  const auto number = static_cast<pid_t>(id);
  Wanted wanted;
  if (type == P_PID) wanted.process = number;
  if (type == P_PGID) wanted.group = number == 0 ? getpgrp() : number;
  const bool is_any = type == P_ALL || (type == P_PGID && number >= 0);
  const bool by_descriptor = type == kByDescriptor;
  const bool is_one = (type == P_PID && number > 0) || by_descriptor;
  // What the kernel refuses, it shall refuse.
  if ((options & kStates) == 0 || (!is_any && !is_one)) return ask_kernel(type, id, info, options, usage);
  if (by_descriptor && (wanted.process = process_ids::behind(number)) <= 0)
    return ask_kernel(type, id, info, options, usage);
  options &= ~__WNOTHREAD;
  ByWaitid question(info, by_descriptor ? number : -1, usage);
  switch (answer(wanted, options, options & (WSTOPPED | WCONTINUED), question)) {
    case Question::Answer::kFailed:
      return -1;
    case Question::Answer::kNothing:
      if (info != nullptr) info->si_pid = 0, info->si_signo = 0;
      break;
    case Question::Answer::kChanged:
    case Question::Answer::kEnded:
      break;
  }
  return 0;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

// The headers declare wait4() and wait3() noexcept, and they are cancellation points: a thread that is
// cancelled there unwinds its stack through them. So each has a C++ name of its own (layering.unwinding).

CLUMP_HOST_API pid_t call_wait4(pid_t process, int* status, int options, struct rusage* usage) asm("wait4");
pid_t call_wait4(pid_t process, int* status, int options, struct rusage* usage) {
  static constinit Hidden<pid_t(pid_t, int*, int, struct rusage*)> real{"wait4"};
  if (!records_children() || process == INT_MIN) return real(process, status, options, usage);
  return wait_by_number(process, status, options, usage);
}

CLUMP_HOST_API pid_t waitpid(pid_t process, int* status, int options) {
  static constinit Hidden<pid_t(pid_t, int*, int)> real{"waitpid"};
  if (!records_children() || process == INT_MIN) return real(process, status, options);
  return wait_by_number(process, status, options, nullptr);
}

CLUMP_HOST_API pid_t __waitpid(pid_t process, int* status, int options) {
  return waitpid(process, status, options);
}

CLUMP_HOST_API pid_t call_wait3(int* status, int options, struct rusage* usage) asm("wait3");
pid_t call_wait3(int* status, int options, struct rusage* usage) {
  return call_wait4(-1, status, options, usage);
}

CLUMP_HOST_API pid_t wait(int* status) { return waitpid(-1, status, 0); }

CLUMP_HOST_API pid_t __wait(int* status) { return waitpid(-1, status, 0); }

CLUMP_HOST_API int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  static constinit Hidden<int(idtype_t, id_t, siginfo_t*, int)> real{"waitid"};
  return records_children() ? wait_by_id(type, id, info, options, nullptr) : real(type, id, info, options);
}

}  // extern "C"
