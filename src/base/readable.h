// Whether memory can be read, without a signal if it cannot.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace clump::base {

/// How many of these bytes can be read before the first one that cannot. The kernel is asked once for each
/// page: it reads a signal set there, and refuses the number of the operation afterwards.
inline std::int64_t readable_bytes(std::intptr_t begin, std::int64_t bytes) {
  constexpr std::intptr_t kPage = 4096, kSet = 8;
  constexpr int kNoOperation = -1;
  const int error = errno;
  std::intptr_t at = begin;
  for (const std::intptr_t end = begin + bytes; at < end; at = (at & -kPage) + kPage)
    if (::syscall(SYS_rt_sigprocmask, kNoOperation, at & -kSet, nullptr, kSet) != 0 && errno == EFAULT) break;
  errno = error;
  return std::clamp<std::int64_t>(at - begin, 0, bytes);
}

}  // namespace clump::base
