#include "keys/admission.h"

#include <fmt/ranges.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/why_refused.h"
#include "common/reach.h"

namespace clump::mpiexec {

namespace {

constexpr int kMostInATurn = 64;                         ///< connections that are taken: other work waits
constexpr std::chrono::milliseconds kNoDescriptor{100};  ///< until the next try, if there is none

}  // namespace

base::Status Admission::open(std::vector<std::string> addresses, std::vector<std::uint32_t> hosts) {
  if (addresses.empty())
    return base::fail(MPI_ERR_SPAWN, "this host has no address at which other hosts could reach mpiexec");
  std::string all = fmt::format("{}", fmt::join(addresses, ", "));
  listeners_ = tools::listen_on(addresses, invitation_.port);
  if (listeners_.empty())
    return base::fail(MPI_ERR_SPAWN, "cannot listen at {}: {}", all, base::why_refused("bind", errno));
  invitation_.addresses = std::move(addresses);
  expected_ = std::move(hosts);
  return {};
}

std::vector<int> Admission::descriptors() const { return listeners_; }

void Admission::add_to(tools::PollSet& all) const {
  if (Clock::now() >= no_accept_until_)
    for (const int listener : listeners_) all.add(listener);
  for (const Stranger& stranger : waiting_) all.add(stranger.socket);
}

void Admission::accept() {
  if (Clock::now() < no_accept_until_) return;
  for (const int listener : listeners_) {
    for (int i = 0; i < kMostInATurn; ++i) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket >= 0) {
        // The job's own proxies come at once, too.
        if (waiting_.size() >= std::max(kMostWaiting, 2 * expected_.size())) drop_oldest();
        waiting_.push_back({socket, Clock::now(), Handshake(key_, expected_)});
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // A stranger's descriptor serves as well.
        if (!waiting_.empty()) drop_oldest();
        no_accept_until_ = Clock::now() + kNoDescriptor;
        return;
      } else if (errno == EAGAIN) {
        break;
      }
    }
  }
}

/// One that is still to say something has just come; the oldest has not, or is slow.
void Admission::drop_oldest() {
  ::close(waiting_.front().socket);
  waiting_.pop_front();
}

std::optional<Guest> Admission::next() {
  accept();
  for (std::size_t i = 0; i < waiting_.size();) {
    Stranger& stranger = waiting_[i];
    const Handshake::State state = stranger.handshake.transfer(stranger.socket);
    if (state == Handshake::State::kWaits && Clock::now() - stranger.since < patience_) {
      ++i;
      continue;
    }
    const auto [socket, since, handshake] = std::move(stranger);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (state != Handshake::State::kDone) {
      ::close(socket);
      continue;
    }
    std::erase(expected_, handshake.host());
    if (expected_.empty()) close();
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return Guest{handshake.host(), socket, handshake.seal()};
  }
  return std::nullopt;
}

void Admission::close() {
  for (const int listener : std::exchange(listeners_, {})) ::close(listener);
  while (!waiting_.empty()) drop_oldest();
}

}  // namespace clump::mpiexec
