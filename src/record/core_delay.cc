#include "record/core_delay.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

namespace clump::record {

namespace {

/// False if the kernel does not tell. The system calls themselves, because the C library's may be those of a
/// rank; errno stays the program's.
bool read_delay(std::uint64_t& nanoseconds) {
  const int users_errno = errno;
  char text[96];
  long length = -1;
  const long file = ::syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    length = ::syscall(SYS_read, file, text, sizeof text);
    ::syscall(SYS_close, file);
  }
  errno = users_errno;
  if (length <= 0) return false;
  const char* const end = text + length;
  const char* const second = std::find<const char*>(text, end, ' ');
  return second != end && std::from_chars(second + 1, end, nanoseconds).ec == std::errc();
}

}  // namespace

std::uint64_t CoreDelay::look(bool& is_told) {
  std::uint64_t now = 0;
  is_told = read_delay(now);
  if (!is_told) return 0;
  const long thread = ::syscall(SYS_gettid);
  const bool same = std::exchange(thread_, thread) == thread;
  const std::uint64_t before = std::exchange(nanoseconds_, now);
  return same && now > before ? now - before : 0;
}

}  // namespace clump::record
