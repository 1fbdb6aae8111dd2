#include "net/link/abstract_socket.h"

#include <fmt/format.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace clump::net::link {

namespace {

socklen_t fill(sockaddr_un& address, const std::string& name) {
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);  // sun_path[0] is 0: the abstract namespace
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

int close_and_fail(int socket) {
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

}  // namespace

std::string link_address(const JobName& job, int process) {
  return fmt::format("clump-link-{:016x}-{}", job.id, process);
}

int bound_socket(const std::string& name, int type) {
  const int made = ::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  sockaddr_un address{};
  const socklen_t length = fill(address, name);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&address), length) == 0) return made;
  return close_and_fail(made);
}

int connected_socket(const std::string& name) {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  sockaddr_un address{};
  const socklen_t length = fill(address, name);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&address), length) != 0) return close_and_fail(made);
  if (is_of_own_user(made)) return made;
  errno = EACCES;
  return close_and_fail(made);
}

bool is_of_own_user(int socket) {
  ucred other{};
  socklen_t length = sizeof other;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 && other.uid == ::geteuid();
}

}  // namespace clump::net::link
