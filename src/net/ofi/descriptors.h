// The sockets of this process, among which are those of libfabric, which does not tell them.
#pragma once

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace clump::net::ofi {

/// Calls `look` with each descriptor that is a stream socket. Another thread may close any of them meanwhile.
template <typename Look>
void each_stream_socket(Look look) {
  // The kernel gives out the lowest free descriptor: after so many that are not open there are no more.
  constexpr int kGap = 1024;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto most = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
  for (int descriptor = 0, last = 0; descriptor < most && descriptor - last < kGap; ++descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    const bool is_socket = ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
    if (is_socket || errno != EBADF) last = descriptor;
    if (is_socket && type == SOCK_STREAM) look(descriptor);
  }
}

}  // namespace clump::net::ofi
