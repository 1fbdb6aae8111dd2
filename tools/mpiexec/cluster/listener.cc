#include "cluster/listener.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>
#include <vector>

#include "common/reach.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::seconds kPatience{10};  // for all addresses together

std::string text_of(const sockaddr* address) {
  const bool is_v4 = address->sa_family == AF_INET;
  char text[INET6_ADDRSTRLEN] = {};
  const void* const bytes =
      is_v4 ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
            : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  ::inet_ntop(address->sa_family, bytes, text, sizeof text);
  return text;
}

/// An address of a link alone has no meaning elsewhere.
bool has_meaning(const sockaddr* address) {
  if (address == nullptr) return false;
  return address->sa_family == AF_INET ||
         (address->sa_family == AF_INET6 &&
          !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr));
}

/// This host's addresses, as others see them; its own last.
std::string addresses() {
  std::string others, own;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "127.0.0.1";
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (!has_meaning(one->ifa_addr) || (one->ifa_flags & IFF_UP) == 0) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? own : others) += text_of(one->ifa_addr) + ",";
  }
  ::freeifaddrs(all);
  return others + own;
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) parts.push_back(one);
  return parts;
}

}  // namespace

base::Status Listener::open(const char* variable, const char* for_what) {
  std::uint64_t number[2];
  sockaddr_in6 any{};  // IPv4, too; where the kernel has no IPv6, only that
  any.sin6_family = AF_INET6;
  socklen_t length = sizeof any;
  const auto make = [&](int family) {
    any.sin6_family = static_cast<sa_family_t>(family);
    return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  };
  if ((socket_ = make(AF_INET6)) < 0) socket_ = make(AF_INET);
  const int off = 0;
  ::setsockopt(socket_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::getrandom(number, sizeof number, 0) != sizeof number || socket_ < 0 ||
      ::bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(socket_, 1024) != 0 || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&any), &length) != 0)
    return base::fail(MPI_ERR_OTHER, "cannot listen for other hosts ({}): {}", for_what,
                      std::strerror(errno));
  word_ = fmt::format("{:016x}{:016x}", number[0], number[1]);
  ::setenv(variable, fmt::format("{} {} {}", word_, ntohs(any.sin6_port), addresses()).c_str(), 1);
  return {};
}

int Listener::accept() const { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

bool Listener::knows(const Hello& hello) const {
  return word_ == std::string_view(hello.word, sizeof hello.word);
}

Listener::~Listener() {
  if (socket_ >= 0) ::close(socket_);
}

base::Status connect_to_listener(const char* variable, const char* for_what, int host, int& socket) {
  const char* const given = std::getenv(variable);
  Hello hello{{}, host};
  char word[sizeof hello.word + 1] = {}, list[4096] = {};
  int port = 0;
  if (given == nullptr || std::sscanf(given, "%32s %d %4095s", word, &port, list) != 3)
    return base::fail(MPI_ERR_ARG, "{} does not say where mpiexec is", variable);
  const std::string addresses = list;
  ::unsetenv(variable);
  std::string why;
  socket = tools::connect_to_any(parts_of(addresses), port, kPatience, why);
  if (socket < 0)
    return base::fail(MPI_ERR_OTHER,
                      "cannot connect to mpiexec at {} port {}: {} a way from each host to that of mpiexec",
                      addresses, port, for_what);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::memcpy(hello.word, word, sizeof hello.word);
  if (::send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello) return {};
  ::close(socket);
  socket = -1;
  return base::fail(MPI_ERR_OTHER, "mpiexec does not answer at {} port {}", addresses, port);
}

}  // namespace clump::mpiexec
