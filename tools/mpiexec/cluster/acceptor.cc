#include "cluster/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace clump::mpiexec {

Acceptor::~Acceptor() {
  for (const Unknown& one : unknown_) ::close(one.socket);
}

void Acceptor::add_to(tools::PollSet& all) const {
  for (const int socket : listener_.sockets()) all.add(socket);
  for (const Unknown& one : unknown_) all.add(one.socket);
}

void Acceptor::accept_from(int listening) {
  // At most so many in a turn: a host that connects without end does not keep mpiexec from its other work.
  for (std::size_t i = 0; i < most_unknown(); ++i) {
    const int socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) return;
    if (unknown_.size() >= most_unknown()) {
      ::close(unknown_.front().socket);
      unknown_.pop_front();
    }
    unknown_.push_back({socket, Clock::now(), {}});
  }
}

Acceptor::Verdict Acceptor::read(Unknown& unknown, Hello& hello) const {
  char bytes[sizeof hello];
  const ssize_t got = ::recv(unknown.socket, bytes, sizeof hello - unknown.told.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return Verdict::kIsStranger;
  if (got > 0) unknown.told.append(bytes, static_cast<std::size_t>(got));
  if (unknown.told.size() < sizeof hello)
    return Clock::now() - unknown.since < kPatience ? Verdict::kWaits : Verdict::kIsStranger;
  std::memcpy(&hello, unknown.told.data(), sizeof hello);
  const bool makes_sense = hello.host >= 0 && static_cast<std::size_t>(hello.host) < hosts_ &&
                           static_cast<int>(hello.stream) >= 0 && static_cast<int>(hello.stream) < kStreams;
  return listener_.knows(hello) && makes_sense ? Verdict::kIsProxy : Verdict::kIsStranger;
}

void Acceptor::accept(const std::function<void(Stream, std::size_t, int)>& admit) {
  for (const int socket : listener_.sockets()) accept_from(socket);
  std::erase_if(unknown_, [&](Unknown& one) {
    Hello hello{};
    const Verdict verdict = read(one, hello);
    if (verdict == Verdict::kWaits) return false;
    if (verdict == Verdict::kIsProxy && admitted_.insert({hello.stream, hello.host}).second) {
      ::fcntl(one.socket, F_SETFL, ::fcntl(one.socket, F_GETFL) & ~O_NONBLOCK);
      admit(hello.stream, static_cast<std::size_t>(hello.host), one.socket);
    } else {
      ::close(one.socket);
    }
    return true;
  });
}

}  // namespace clump::mpiexec
