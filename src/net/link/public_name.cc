#include "net/link/public_name.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "fiber/fiber.h"
#include "net/link/abstract_socket.h"

namespace clump::net::link {

namespace {

/// A name of any length, in what a socket's name has room for (FNV-1a). Whether it is the right one says the
/// answer.
std::string address_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return fmt::format("clump-name-{}-{:016x}", ::geteuid(), hash);
}

/// What is sent to those that ask.
std::string answer_of(std::string_view name, std::string_view value) {
  std::string answer(name);
  answer.push_back('\0');
  return answer.append(value);
}

/// All that comes until the other side closes.
std::string read_all(int socket) {
  constexpr std::chrono::seconds kPatience{10};
  constexpr std::chrono::microseconds kPause{100};
  const auto limit = fiber::now() + kPatience;
  std::string all;
  while (fiber::now() < limit) {
    std::array<char, 4096> piece;
    const ssize_t count = ::recv(socket, piece.data(), piece.size(), MSG_DONTWAIT);
    if (count > 0)
      all.append(piece.data(), static_cast<std::size_t>(count));
    else if (count < 0 && errno == EAGAIN)
      fiber::sleep_until(fiber::now() + kPause);
    else if (count == 0 || errno != EINTR)
      break;
  }
  return all;
}

}  // namespace

bool PublicName::open(std::string_view name, std::string_view value, int events) {
  const int made = bound_socket(address_of(name), SOCK_STREAM);
  if (made < 0) return false;
  const std::lock_guard lock(mutex_);
  socket_ = made;
  events_ = events;
  is_paused_ = false;
  name_ = name;
  answer_ = answer_of(name, value);
  return ::listen(made, SOMAXCONN) == 0 && watch(EPOLL_CTL_ADD, EPOLLIN);
}

/// The caller has the lock.
bool PublicName::watch(int operation, std::uint32_t wanted) {
  epoll_event event{.events = wanted, .data = {.ptr = static_cast<Watched*>(this)}};
  return ::epoll_ctl(events_, operation, socket_, &event) == 0;
}

void PublicName::close() {
  const std::lock_guard lock(mutex_);
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

bool PublicName::has(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return socket_ >= 0 && name_ == name;
}

bool PublicName::is_free() const {
  const std::lock_guard lock(mutex_);
  return socket_ < 0;
}

bool PublicName::is_ready(std::uint32_t) {
  const std::lock_guard lock(mutex_);
  while (socket_ >= 0) {
    const int asking = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (asking < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (asking < 0) {
      const bool pauses = errno != EAGAIN;
      if (pauses != is_paused_) watch(EPOLL_CTL_MOD, pauses ? 0u : EPOLLIN);
      is_paused_ = pauses;
      return !pauses;
    }
    if (is_of_own_user(asking))
      (void)!::send(asking, answer_.data(), answer_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::close(asking);
  }
  return true;
}

std::string find_public_name(std::string_view name, std::string& holder) {
  const int socket = connected_socket(address_of(name));
  holder = socket < 0 && errno == EACCES ? holder_of_public_name(name) : std::string();
  if (socket < 0) return {};
  const std::string answer = read_all(socket);
  ::close(socket);
  const std::string head = answer_of(name, {});
  return answer.starts_with(head) ? answer.substr(head.size()) : std::string();
}

std::string holder_of_public_name(std::string_view name) { return holder_of(address_of(name)); }

}  // namespace clump::net::link
