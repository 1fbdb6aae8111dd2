#include "cluster/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace clump::mpiexec {

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), in_(std::move(other.in_)), out_(std::move(other.out_)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(in_, other.in_);
  std::swap(out_, other.out_);
  return *this;
}

Connection::~Connection() { close(); }

void Connection::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void Connection::add_to(tools::PollSet& all) const {
  all.add(socket_, static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT));
}

void Connection::send(std::string_view message) {
  if (!is_open()) return;
  const auto bytes = static_cast<std::uint32_t>(message.size());
  out_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  out_ += message;
  flush();
}

// Reads nothing: its callers do not look at what has come.
void Connection::flush() {
  const ssize_t sent = ::send(socket_, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
  // What the other side has written before it has gone can still be read: transfer() finds its end.
  if (sent < 0 && errno != EAGAIN && errno != EINTR) out_.clear();
}

void Connection::transfer() {
  if (!out_.empty()) flush();
  char bytes[64 << 10];
  while (is_open()) {
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) return got == 0 || (errno != EAGAIN && errno != EINTR) ? close() : void();
    in_.append(bytes, static_cast<std::size_t>(got));
  }
}

bool Connection::receive(std::string& message) {
  std::uint32_t bytes = 0;
  if (in_.size() < sizeof bytes) return false;
  std::memcpy(&bytes, in_.data(), sizeof bytes);
  if (in_.size() - sizeof bytes < bytes) return false;
  message = in_.substr(sizeof bytes, bytes);
  in_.erase(0, sizeof bytes + bytes);
  return true;
}

int Connection::release() { return std::exchange(socket_, -1); }

}  // namespace clump::mpiexec
