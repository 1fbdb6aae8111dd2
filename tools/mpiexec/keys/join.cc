#include "keys/join.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "common/poll_set.h"
#include "common/reach.h"

namespace clump::mpiexec {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{300};  ///< until the next try of an address
constexpr std::chrono::seconds kOneTry{15};       ///< longer than mpiexec's for one connection

/// What goes on with one address.
class Attempt {
 public:
  Attempt(std::string address, int port, const Key& key, std::uint32_t host)
      : address_(std::move(address)), port_(port), key_(key), host_(host) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() { end(""); }

  void add_to(tools::PollSet& all) const { all.add(socket_, is_connected_ ? POLLIN : POLLOUT); }
  /// True: mpiexec is there, and has admitted this proxy.
  bool transfer();
  Joined take() { return {std::exchange(socket_, -1), handshake_->seal()}; }
  /// The last answer there did not fit the key.
  bool is_wrong() const { return is_wrong_; }
  std::string why() const { return fmt::format("{} port {}: {}", address_, port_, why_); }

 private:
  void begin();
  void end(const std::string& why);
  bool finish_handshake();

  const std::string address_;
  const int port_;
  const Key& key_;
  const std::uint32_t host_;
  int socket_ = -1;
  bool is_connected_ = false, is_wrong_ = false;
  std::optional<Handshake> handshake_;
  std::string why_ = "no answer";
  Clock::time_point next_try_{}, began_{};
};

void Attempt::begin() {
  if (Clock::now() < next_try_) return;
  began_ = Clock::now();
  socket_ = tools::begin_to_connect(address_, port_);
  is_connected_ = false;
  handshake_.emplace(key_, host_);
  if (socket_ < 0) end(std::strerror(errno));
}

void Attempt::end(const std::string& why) {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  why_ = why;
  next_try_ = Clock::now() + kPause;
}

bool Attempt::transfer() {
  if (socket_ < 0) begin();
  if (socket_ < 0) return false;
  if (Clock::now() - began_ >= kOneTry) {
    end(is_connected_ ? "accepts connections and says nothing" : "no answer");
    return false;
  }
  if (!is_connected_) {
    int error = 0;
    socklen_t length = sizeof error;
    sockaddr_storage other{};
    socklen_t size = sizeof other;
    if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
    if (error != 0) end(std::strerror(error));
    if (error != 0 || ::getpeername(socket_, reinterpret_cast<sockaddr*>(&other), &size) != 0) return false;
    is_connected_ = true;
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return finish_handshake();
}

bool Attempt::finish_handshake() {
  switch (handshake_->transfer(socket_)) {
    case Handshake::State::kWaits:
      return false;
    case Handshake::State::kDone:
      return true;
    case Handshake::State::kWrong:
      is_wrong_ = true;
      end("what answers there does not know the job's key");
      return false;
    case Handshake::State::kClosed:
      end(errno == 0       ? "closed the connection without an answer"
          : errno == EPIPE ? "the connection was closed"
                           : std::strerror(errno));
      return false;
  }
  return false;
}

}  // namespace

base::Status join(const Invitation& invitation, const Key& key, std::uint32_t host,
                  std::chrono::milliseconds patience, std::optional<Joined>& joined) {
  std::deque<Attempt> attempts;
  for (const std::string& address : invitation.addresses)
    attempts.emplace_back(address, invitation.port, key, host);
  const auto end = Clock::now() + patience;
  const auto is_wrong = [](const Attempt& one) { return one.is_wrong(); };
  while (Clock::now() < end) {
    for (Attempt& attempt : attempts) {
      if (!attempt.transfer()) continue;
      joined = attempt.take();
      return {};
    }
    if (std::ranges::all_of(attempts, is_wrong)) break;
    tools::PollSet all;
    for (const Attempt& attempt : attempts) attempt.add_to(all);
    all.wait(static_cast<int>(std::min(kPause, patience).count()));
  }
  std::string why;
  for (const Attempt& attempt : attempts) why += (why.empty() ? "" : "; ") + attempt.why();
  return base::fail(MPI_ERR_SPAWN, "mpiexec was not found: {}", why);
}

}  // namespace clump::mpiexec
