#include "base/core_delay.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>

namespace clump::base {

std::optional<std::chrono::nanoseconds> core_delay_of(std::string_view schedstat) noexcept {
  const char* const end = schedstat.data() + schedstat.size();
  long long run = 0, delay = 0;
  const auto first = std::from_chars(schedstat.data(), end, run);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return {};
  if (std::from_chars(first.ptr + 1, end, delay).ec != std::errc()) return {};
  return std::chrono::nanoseconds(delay);
}

std::optional<std::chrono::nanoseconds> read_core_delay(const char* path) noexcept {
  const int users_errno = errno;
  std::array<char, 96> text{};
  long length = -1;
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    length = ::syscall(SYS_read, file, text.data(), text.size());
    ::syscall(SYS_close, file);
  }
  errno = users_errno;
  return core_delay_of({text.data(), length > 0 ? static_cast<std::size_t>(length) : 0});
}

}  // namespace clump::base
