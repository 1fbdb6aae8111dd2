#include "net/link/abstract_socket.h"

#include <fmt/format.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/keyed_hash.h"

namespace clump::net::link {

namespace {

socklen_t fill(sockaddr_un& address, const std::string& name) {
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);  // sun_path[0] is 0: the abstract namespace
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

/// A stream socket that is connected to this name, whoever has it; -1 with errno.
int connect_to_any(const std::string& name) {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  sockaddr_un address{};
  const socklen_t length = fill(address, name);
  if (::connect(made, reinterpret_cast<const sockaddr*>(&address), length) != 0) return close_and_fail(made);
  return made;
}

/// False: the system does not say.
bool find_user(int socket, uid_t& user) {
  ucred other{};
  socklen_t length = sizeof other;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) != 0) return false;
  user = other.uid;
  return true;
}

}  // namespace

int close_and_fail(int socket) {
  const int error = errno;
  if (socket >= 0) ::close(socket);
  errno = error;
  return -1;
}

std::string link_address(const JobName& job, int process) {
  return fmt::format("clump-link-{}-{:016x}", ::geteuid(),
                     base::keyed_hash({job.id, job.token}, static_cast<std::uint64_t>(process)));
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
  const int made = connect_to_any(name);
  if (made < 0 || is_of_own_user(made)) return made;
  errno = EACCES;
  return close_and_fail(made);
}

std::string holder_of(const std::string& name) {
  const int made = connect_to_any(name);
  uid_t user = 0;
  const bool is_known = made >= 0 && find_user(made, user);
  if (made >= 0) ::close(made);
  if (!is_known) return "a process that does not answer, perhaps another user's,";
  return user != ::geteuid() ? fmt::format("another user (uid {})", user) : std::string();
}

bool is_of_own_user(int socket) {
  uid_t user = 0;
  return find_user(socket, user) && user == ::geteuid();
}

}  // namespace clump::net::link
