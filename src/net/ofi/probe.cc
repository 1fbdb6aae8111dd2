#include "net/ofi/probe.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace clump::net::ofi {

Probe::Probe(const InternetAddress& address) {
  socket_ = ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0 || (::connect(socket_, address.get(), address.length()) != 0 && errno != EINPROGRESS))
    fail(errno);
}

Probe::~Probe() {
  if (socket_ >= 0) ::close(socket_);
}

Probe::Answer Probe::fail(int error) {
  error_ = std::strerror(error);
  is_refused_ = error == ECONNREFUSED;
  return answer_ = Answer::kFailed;
}

Probe::Answer Probe::look() {
  if (answer_ != Answer::kNone) return answer_;
  pollfd waiting{socket_, POLLOUT, 0};
  if (::poll(&waiting, 1, 0) <= 0) return Answer::kNone;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
  return error != 0 ? fail(error) : answer_ = Answer::kReached;
}

}  // namespace clump::net::ofi
