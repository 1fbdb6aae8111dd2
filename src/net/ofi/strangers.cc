#include "net/ofi/strangers.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "net/ofi/descriptors.h"

namespace clump::net::ofi {

namespace {

constexpr rlim_t kMostDescriptors = 65536;
// libfabric's tcp: the first part of a request for a connection, which comes in one piece.
constexpr std::uint64_t kLeastRequest = 32;
constexpr int kSilentInKernelSeconds = 60;

// tcp_info as Linux has it since 4.2: a C library may have its beginning only.
constexpr std::size_t kBytesReceived = 128;
struct LongTcpInfo {
  template <typename Number>
  Number at(std::size_t offset) const {
    Number number;
    std::memcpy(&number, bytes + offset, sizeof number);
    return number;
  }

  std::byte bytes[kBytesReceived + sizeof(std::uint64_t)];
};

bool listens(int descriptor) {
  int answer = 0;
  socklen_t length = sizeof answer;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &length) == 0 && answer != 0;
}

}  // namespace

void allow_more_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, kMostDescriptors);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int listener_at(const InternetAddress& own) {
  int found = -1;
  each_stream_socket([&](int descriptor) {
    if (listens(descriptor) && InternetAddress::of_self(descriptor) == own) found = descriptor;
  });
  return found;
}

void keep_silent_connections_out(int listener) {
  ::setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &kSilentInKernelSeconds,
               sizeof kSilentInKernelSeconds);
}

void cut_if_silent(int descriptor, const InternetAddress& own, std::chrono::milliseconds patience) {
  LongTcpInfo info{};
  socklen_t length = sizeof info;
  if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || length < sizeof info) return;
  const bool is_silent = info.at<std::uint8_t>(offsetof(tcp_info, tcpi_state)) == TCP_ESTABLISHED &&
                         info.at<std::uint64_t>(kBytesReceived) < kLeastRequest &&
                         info.at<std::uint32_t>(offsetof(tcp_info, tcpi_last_data_recv)) > patience.count();
  if (!is_silent || !(InternetAddress::of_self(descriptor) == own)) return;
  // Unlike after shutdown(), the provider's next recv() fails with an error number of its own.
  const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
  ::connect(descriptor, &nowhere, sizeof nowhere);
}

}  // namespace clump::net::ofi
