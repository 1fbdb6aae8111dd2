#include "net/link/host_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/keyed_hash.h"
#include "net/link/abstract_socket.h"

namespace clump::net::link {

namespace {

// A host that answers nothing is given up before its job would give it up (net/ofi: 8 s).
constexpr int kFirstProbe = 3, kProbe = 2, kProbes = 2, kUnacknowledgedMilliseconds = 8000;

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_of_version_4(const Location& there) {
  return std::equal(kMapped.begin(), kMapped.end(), there.address.begin());
}

socklen_t fill(sockaddr_storage& storage, const Location& there) {
  if (is_of_version_4(there)) {
    auto& four = reinterpret_cast<sockaddr_in&>(storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(there.port);
    std::memcpy(&four.sin_addr, there.address.data() + kMapped.size(), sizeof four.sin_addr);
    return sizeof four;
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(storage);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(there.port);
  std::memcpy(&six.sin6_addr, there.address.data(), sizeof six.sin6_addr);
  return sizeof six;
}

/// False: it is no numeric address.
bool read_address(const std::string& text, Location& there) {
  if (::inet_pton(AF_INET6, text.c_str(), there.address.data()) == 1) return true;
  std::ranges::copy(kMapped, there.address.begin());
  return ::inet_pton(AF_INET, text.c_str(), there.address.data() + kMapped.size()) == 1;
}

std::string numeric(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* number = &reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  if (storage.ss_family == AF_INET) number = &reinterpret_cast<const sockaddr_in&>(storage).sin_addr;
  return ::inet_ntop(storage.ss_family, number, text, sizeof text) != nullptr ? text : "";
}

}  // namespace

std::uint64_t own_host() {
  static const std::uint64_t number = [] {
    // Drawn by the kernel at its start.
    std::array<char, 40> boot{};
    if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re")) {
      (void)!std::fread(boot.data(), 1, boot.size() - 1, file);
      std::fclose(file);
    }
    struct stat network {};
    (void)!::stat("/proc/self/ns/net", &network);
    std::array<std::uint64_t, boot.size() / sizeof(std::uint64_t)> words{};
    std::memcpy(words.data(), boot.data(), boot.size());
    return base::keyed_hash({network.st_dev, network.st_ino}, words) | 1;
  }();
  return number;
}

int host_listener(const std::string& address, Location& here) {
  errno = EINVAL;
  if (!read_address(address, here)) return -1;
  sockaddr_storage own{};
  socklen_t length = fill(own, here);
  const int made = ::socket(own.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0 || ::bind(made, reinterpret_cast<const sockaddr*>(&own), length) != 0 ||
      ::listen(made, SOMAXCONN) != 0 || ::getsockname(made, reinterpret_cast<sockaddr*>(&own), &length) != 0)
    return close_and_fail(made);
  // At the same place in both kinds.
  here.port = ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
  here.host = own_host();
  return made;
}

int begin_to_connect(const Location& there) {
  sockaddr_storage address{};
  const socklen_t length = fill(address, there);
  const int made = ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  prepare_for_hosts(made);
  const bool begins =
      ::connect(made, reinterpret_cast<const sockaddr*>(&address), length) == 0 || errno == EINPROGRESS;
  return begins ? made : close_and_fail(made);
}

void prepare_for_hosts(int socket) {
  const auto set = [&](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kFirstProbe);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kProbe);
  set(IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMilliseconds);
}

std::string address_towards(const std::string& other) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* all = nullptr;
  if (::getaddrinfo(other.substr(other.find('@') + 1).c_str(), "9", &wanted, &all) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(all, ::freeaddrinfo);
  for (const addrinfo* one = all; one != nullptr; one = one->ai_next) {
    const int probe = ::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) continue;
    // Of a datagram socket this sends nothing, but chooses the way.
    std::string text = ::connect(probe, one->ai_addr, one->ai_addrlen) == 0 ? own_address_of(probe) : "";
    ::close(probe);
    if (!text.empty()) return text;
  }
  return {};
}

std::string own_address_of(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0) return {};
  if (own.ss_family != AF_INET && own.ss_family != AF_INET6) return {};
  const std::string text = numeric(own);
  const bool leads_away = !text.starts_with("127.") && text != "::1" && !text.starts_with("::ffff:127.") &&
                          !text.starts_with("fe80:");
  return leads_away ? text : std::string();
}

std::string numeric_address(const Location& there) {
  sockaddr_storage address{};
  static_cast<void>(fill(address, there));
  return numeric(address);
}

std::string text_of(const Location& there) {
  return fmt::format("{} port {}", numeric_address(there), there.port);
}

}  // namespace clump::net::link
