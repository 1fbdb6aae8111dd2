#include "common/reach.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace clump::tools {

namespace {

using Found = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Found look_up(const std::string& name, const char* service, int flags) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), service, &wanted, &found) != 0) found = nullptr;
  return {found, ::freeaddrinfo};
}

std::string numeric(const sockaddr* address, socklen_t length) {
  char text[INET6_ADDRSTRLEN + 32] = {};
  if (::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text;
}

/// Port 0: the kernel chooses one. -1: it cannot, errno says why.
int listen_at(const std::string& address, int& port) {
  const Found here =
      look_up(address, std::to_string(port).c_str(), AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE);
  errno = EINVAL;
  if (!here) return -1;
  const int made = ::socket(here->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::bind(made, here->ai_addr, here->ai_addrlen) == 0 && ::listen(made, SOMAXCONN) == 0 &&
      ::getsockname(made, reinterpret_cast<sockaddr*>(&own), &length) == 0) {
    port = ntohs(reinterpret_cast<sockaddr_in*>(&own)->sin_port);  // at the same place as in sockaddr_in6
    return made;
  }
  const int why = errno;
  ::close(made);
  errno = why;
  return -1;
}

/// 0: it is connected.
int error_of(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

}  // namespace

std::vector<std::string> addresses_of(const std::string& name) {
  std::vector<std::string> all;
  const Found found = look_up(name.substr(name.find('@') + 1), nullptr, 0);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    const std::string text = numeric(one->ai_addr, one->ai_addrlen);
    if (!text.empty() && std::ranges::find(all, text) == all.end()) all.push_back(text);
  }
  return all;
}

std::vector<std::string> own_addresses(const std::string& interface) {
  std::vector<std::string> own;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return own;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (!interface.empty() && interface != one->ifa_name)) continue;
    const bool is_4 = one->ifa_addr->sa_family == AF_INET;
    if (!is_4 && one->ifa_addr->sa_family != AF_INET6) continue;
    std::string text = numeric(one->ifa_addr, is_4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    if (!text.empty() && !is_loopback(text) && !text.starts_with("fe80:")) own.push_back(std::move(text));
  }
  ::freeifaddrs(all);
  return own;
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

std::string address_towards(const std::string& other) {
  const Found found = look_up(other.substr(other.find('@') + 1), "9", 0);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    const int probe = ::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    // Of a datagram socket this sends nothing, but chooses the way.
    const bool known = ::connect(probe, one->ai_addr, one->ai_addrlen) == 0 &&
                       ::getsockname(probe, reinterpret_cast<sockaddr*>(&own), &length) == 0;
    ::close(probe);
    std::string text = known ? numeric(reinterpret_cast<sockaddr*>(&own), length) : std::string();
    if (!text.empty()) return text;
  }
  return {};
}

int begin_to_connect(const std::string& address, int port) {
  const Found there = look_up(address, std::to_string(port).c_str(), AI_NUMERICHOST | AI_NUMERICSERV);
  errno = EINVAL;
  if (!there) return -1;
  const int made = ::socket(there->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0 || ::connect(made, there->ai_addr, there->ai_addrlen) == 0 || errno == EINPROGRESS)
    return made;
  const int why = errno;
  ::close(made);
  errno = why;
  return -1;
}

int connect_to_any(const std::vector<std::string>& addresses, int port, std::chrono::milliseconds patience,
                   std::string& why) {
  std::vector<pollfd> tried;
  std::vector<std::string> reasons;
  for (const std::string& address : addresses) {
    tried.push_back({begin_to_connect(address, port), POLLOUT, 0});
    reasons.emplace_back(tried.back().fd >= 0
                             ? fmt::format("no answer within {} s", patience / std::chrono::seconds(1))
                             : std::strerror(errno));
  }
  int found = -1;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (found < 0 && std::ranges::any_of(tried, [](const pollfd& one) { return one.fd >= 0; })) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    ::poll(tried.data(), tried.size(), static_cast<int>(left.count()));
    for (std::size_t i = 0; i < tried.size() && found < 0; ++i) {
      if (tried[i].fd < 0 || tried[i].revents == 0) continue;
      const int error = error_of(tried[i].fd);
      if (error == 0) found = std::exchange(tried[i].fd, -1);
      if (error == 0) break;
      reasons[i] = std::strerror(error);
      ::close(std::exchange(tried[i].fd, -1));
    }
  }
  for (const pollfd& one : tried)
    if (one.fd >= 0) ::close(one.fd);
  if (found >= 0) {
    ::fcntl(found, F_SETFL, 0);
    return found;
  }
  why.clear();
  for (std::size_t i = 0; i < addresses.size(); ++i)
    why += fmt::format("{}{} port {}: {}", i == 0 ? "" : ", ", addresses[i], port, reasons[i]);
  return -1;
}

std::vector<int> listen_on(std::vector<std::string>& addresses, int& port) {
  std::vector<int> made;
  std::vector<std::string> bound;
  const auto close_all = [&] {
    const int why = errno;
    for (const int socket : std::exchange(made, {})) ::close(socket);
    bound.clear();
    errno = why;
  };
  constexpr int kTries = 16;  // the kernel chooses the port for the first address: it may be taken at another
  for (int i = 0; i < kTries && made.empty(); ++i) {
    port = 0;
    for (const std::string& address : addresses) {
      const int socket = listen_at(address, port);
      if (socket >= 0) {
        made.push_back(socket);
        bound.push_back(address);
      }
      if (socket >= 0 || errno != EADDRINUSE) continue;
      close_all();
      break;
    }
  }
  if (!made.empty()) addresses = std::move(bound);
  return made;
}

}  // namespace clump::tools
