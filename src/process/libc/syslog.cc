// Messages of a rank to the system's log, with the name, the options, the facility and the mask that the rank
// has chosen. The C library has one set of these, which is set to the rank's for each message.
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <fmt/format.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {

struct SyslogState {
  RankMutex lock;
  const char* name = nullptr;
  int options = 0;
  int facility = LOG_USER;
  int mask = 0xff;
};

namespace {

constinit PerRank<SyslogState> kept;

constinit ForkMutex one_at_a_time;

/// While one lives, the process's settings are those of the calling rank. allows() says whether the rank
/// wants the message.
class WithLogOfRank {
 public:
  explicit WithLogOfRank(int priority) : hold_(one_at_a_time, std::defer_lock) {
    if (!captured()) return;
    static constinit Hidden<void(const char*, int, int)> open{"openlog"};
    SyslogState& state = kept.of();
    const std::scoped_lock lock(state.lock);
    wanted_ = (LOG_MASK(LOG_PRI(priority)) & state.mask) != 0;
    hold_.lock();
    // Without a name the C library would take the first rank's program.
    name_ = state.name != nullptr ? state.name : *current_image().variable(&program_invocation_short_name);
    open(name_, state.options & ~(LOG_NDELAY | LOG_PERROR), state.facility);
    options_ = state.options;
  }
  bool wanted() const { return wanted_; }
  /// LOG_PERROR: the message is also written to what the rank has as descriptor 2.
  void tell(const char* format, va_list arguments) const {
    if (!wanted_ || (options_ & LOG_PERROR) == 0) return;
    std::string head = name_;
    if ((options_ & LOG_PID) != 0) head += fmt::format("[{}]", getpid());
    char* text = nullptr;
    const int error = errno;
    const int length = vasprintf(&text, format, arguments);  // it knows %m
    if (length >= 0) {
      const bool ends = length > 0 && text[length - 1] == '\n';
      dprintf(STDERR_FILENO, "%s: %s%s", head.c_str(), text, ends ? "" : "\n");
      std::free(text);
    }
    errno = error;
  }

 private:
  std::unique_lock<ForkMutex> hold_;
  bool wanted_ = true;
  const char* name_ = "";
  int options_ = 0;
};

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API void openlog(const char* name, int options, int facility) {
  static constinit Hidden<void(const char*, int, int)> real{"openlog"};
  if (!captured()) return real(name, options, facility);
  SyslogState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  state.name = name;
  state.options = options;
  if (facility != 0) state.facility = facility;
}

CLUMP_HOST_API void closelog() {
  static constinit Hidden<void()> real{"closelog"};
  if (!captured()) return real();
  SyslogState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  state.name = nullptr;
}

CLUMP_HOST_API int setlogmask(int mask) noexcept {
  static constinit Hidden<int(int)> real{"setlogmask"};
  if (!captured()) return real(mask);
  SyslogState& state = kept.of();
  const std::scoped_lock lock(state.lock);
  const int before = state.mask;
  if (mask != 0) state.mask = mask;
  return before;
}

CLUMP_HOST_API void vsyslog(int priority, const char* format, va_list arguments) {
  static constinit Hidden<void(int, const char*, va_list)> real{"vsyslog"};
  const WithLogOfRank log(priority);
  va_list again;
  va_copy(again, arguments);
  log.tell(format, again);
  va_end(again);
  if (log.wanted()) real(priority, format, arguments);
}

CLUMP_HOST_API void syslog(int priority, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsyslog(priority, format, arguments);
  va_end(arguments);
}

// The names of these two functions with -D_FORTIFY_SOURCE.
CLUMP_HOST_API void __vsyslog_chk(int priority, int flag, const char* format, va_list arguments) {
  static constinit Hidden<void(int, int, const char*, va_list)> real{"__vsyslog_chk"};
  const WithLogOfRank log(priority);
  va_list again;
  va_copy(again, arguments);
  log.tell(format, again);
  va_end(again);
  if (log.wanted()) real(priority, flag, format, arguments);
}

CLUMP_HOST_API void __syslog_chk(int priority, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  __vsyslog_chk(priority, flag, format, arguments);
  va_end(arguments);
}

}  // extern "C"
