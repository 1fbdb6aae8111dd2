// Connections of the link channel between hosts, until both sides have proved themselves (proof.h).
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/why_refused.h"
#include "net/link/host_socket.h"
#include "net/link/link_channel.h"

namespace clump::net {

using namespace link;

bool LinkChannel::is_elsewhere(const Peer& peer) const {
  return peer.where.host != 0 && peer.where.host != own_host();
}

/// As begin_connecting(): kConnecting, with a connection that prove() goes on with.
bool LinkChannel::begin_connecting_to_host(Peer& peer, std::string& why) {
  if (peer.proving != nullptr) return true;
  const int socket = peer.where.is_reachable() ? begin_to_connect(peer.where) : -1;
  if (socket < 0) {
    why =
        peer.where.is_reachable()
            ? base::why_refused("connect to " + text_of(peer.where), errno)
            : "it is on another host, and its job lets only processes of its own host connect: run that job "
              "with mpiexec --iface INTERFACE, or open the port with the info key ip_address";
    if (peer.fails_at_once || peer.state == Peer::State::kConnecting) return false;
    retry_later(peer, std::chrono::seconds(0));  // the thread ends the peer
    return true;
  }
  peer.state = Peer::State::kConnecting;
  auto* const connection = new Connection(*this, socket, peer.shared_from_this(),
                                          std::make_unique<Stranger>(Side::kCalls, peer.job, peer.process));
  peer.proving = connection;
  admit(*connection);
  epoll_event coming{.events = EPOLLIN | EPOLLOUT, .data = {.ptr = static_cast<Watched*>(connection)}};
  ::epoll_ctl(events_, EPOLL_CTL_ADD, socket, &coming);
  return true;
}

/// The thread looks after it from now on.
void LinkChannel::admit(Connection& connection) {
  const std::lock_guard lock(retry_mutex_);
  const auto has_called = [](const Connection* one) { return one->stranger->has_called(); };
  if (has_called(&connection) &&
      static_cast<std::size_t>(std::ranges::count_if(strangers_, has_called)) >= Stranger::kMost) {
    const auto oldest = std::ranges::find_if(strangers_, has_called);
    ::shutdown((*oldest)->socket(), SHUT_RDWR);  // the thread closes it when it looks at it next
    strangers_.erase(oldest);
  }
  strangers_.push_back(&connection);
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

void LinkChannel::prove(Connection& connection) {
  Stranger& stranger = *connection.stranger;
  const Stranger::State state = stranger.proceed(connection.socket());
  if (state == Stranger::State::kFails) return close_stranger(connection, stranger.why());
  if (state == Stranger::State::kWaits) return watch(connection, stranger.writes());
  {
    const std::lock_guard lock(retry_mutex_);
    std::erase(strangers_, &connection);
  }
  connection.stranger.reset();
  if (connection.peer == nullptr) return;  // a greeting comes
  bool is_needed = false;
  {
    Peer& peer = *connection.peer;
    const std::lock_guard lock(peer.mutex);
    peer.proving = nullptr;
    is_needed = peer.state == Peer::State::kConnecting;  // otherwise it has come by itself
    if (is_needed) {
      begin_talking(peer, connection);
      watch(connection, true);
    }
  }
  if (!is_needed) close(connection);
}

void LinkChannel::look_after_strangers() {
  std::vector<Connection*> late;
  {
    const std::lock_guard lock(retry_mutex_);
    std::ranges::copy_if(strangers_, std::back_inserter(late),
                         [](const Connection* one) { return one->stranger->is_late(); });
  }
  for (Connection* const one : late)
    close_stranger(*one, fmt::format("no answer within {} s", Stranger::kPatience.count()));
}

/// Of one that has called nothing is told.
void LinkChannel::close_stranger(Connection& connection, std::string why) {
  {
    const std::lock_guard lock(retry_mutex_);
    std::erase(strangers_, &connection);
  }
  const PeerRef peer = connection.peer;
  bool is_over = false;
  std::string where;
  if (peer != nullptr) {
    const std::lock_guard lock(peer->mutex);
    peer->proving = nullptr;
    is_over = peer->state == Peer::State::kConnecting;
    where = text_of(peer->where);
  }
  ::epoll_ctl(events_, EPOLL_CTL_DEL, connection.socket(), nullptr);
  delete &connection;
  if (is_over) end_peer(peer, fmt::format("its process cannot be reached at {}: {}", where, why));
}

}  // namespace clump::net
