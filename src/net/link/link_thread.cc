// The thread of the link channel: it accepts connections, reads from them, and writes what had to wait.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "base/thread_name.h"
#include "base/why_refused.h"
#include "fiber/fiber.h"
#include "fiber/worker.h"
#include "net/link/abstract_socket.h"
#include "net/link/host_socket.h"
#include "net/link/link_channel.h"

namespace clump::net {

using namespace link;

namespace {

using Clock = std::chrono::steady_clock;

/// So long a process that is to be reached may take to listen: it may compute before it learns of us.
constexpr std::chrono::seconds kPatience{60};
constexpr int kRetryMilliseconds = 2;
/// After so long it tries again to accept a connection for which the process had no descriptor.
constexpr int kAcceptAgainMilliseconds = 20;
/// So often it looks for connections between hosts that take too long.
constexpr int kLookMilliseconds = 500;
/// So much is read by one system call.
constexpr std::size_t kReadBuffer = 128 * 1024;

}  // namespace

/// The caller has the lock.
base::Status LinkChannel::start() {
  if (started_) return {};
  events_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event waking{.events = EPOLLIN, .data = {.ptr = &wake_}};
  if (events_ < 0 || wake_ < 0 || ::epoll_ctl(events_, EPOLL_CTL_ADD, wake_, &waking) != 0)
    return base::fail(MPI_ERR_OTHER, "no connections to other jobs: {}",
                      base::why_refused("epoll_create1, eventfd", errno));
  if (!fiber::start_kernel_thread(&begin_thread, this))
    return base::fail(MPI_ERR_OTHER, "no thread for connections to other jobs: {}",
                      base::why_refused("pthread_create", errno));
  started_ = true;
  return {};
}

base::Status LinkChannel::listen() {
  CLUMP_TRY(listen_here());
  return setup_.interface.empty() ? base::Status() : listen_to_hosts(setup_.interface);
}

base::Status LinkChannel::listen_here() {
  const std::lock_guard lock(mutex_);
  if (listens_) return {};
  CLUMP_TRY(start());
  here_.socket = bound_socket(address_, SOCK_STREAM);
  epoll_event coming{.events = EPOLLIN, .data = {.ptr = &here_}};
  if (here_.socket < 0 || ::listen(here_.socket, SOMAXCONN) != 0 ||
      ::epoll_ctl(events_, EPOLL_CTL_ADD, here_.socket, &coming) != 0) {
    const std::string holder = errno == EADDRINUSE ? holder_of(address_) : std::string();
    return base::fail(MPI_ERR_OTHER, "other jobs cannot connect: {}",
                      holder.empty() ? base::why_refused("bind, listen", errno)
                                     : holder + " has taken the name of this process's socket");
  }
  listens_ = true;
  return {};
}

base::Status LinkChannel::listen_to_hosts(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (for_hosts_.socket >= 0) return {};
  CLUMP_TRY(start());
  auto at = std::make_unique<Location>();
  for_hosts_.socket = host_listener(address, *at);
  epoll_event coming{.events = EPOLLIN, .data = {.ptr = &for_hosts_}};
  if (for_hosts_.socket < 0 || ::epoll_ctl(events_, EPOLL_CTL_ADD, for_hosts_.socket, &coming) != 0) {
    const int error = errno;
    for_hosts_.socket = close_and_fail(for_hosts_.socket);
    return base::fail(MPI_ERR_OTHER,
                      "jobs on other hosts cannot connect at the address \"{}\" of this host: {}", address,
                      base::why_refused("bind, listen", error));
  }
  listens_at_.store(at.release(), std::memory_order_release);
  return {};
}

void* LinkChannel::begin_thread(void* self) {
  base::name_own_thread("link");
  static_cast<LinkChannel*>(self)->run();
  return nullptr;
}

void LinkChannel::run() {
  read_buffer_.resize(kReadBuffer);
  for (;;) {
    epoll_event events[16];
    bool retries = false, has_strangers = false;
    {
      const std::lock_guard lock(retry_mutex_);
      retries = !retrying_.empty();
      has_strangers = !strangers_.empty();
    }
    const bool accepts_later = here_.accepts_later || for_hosts_.accepts_later || !later_.empty();
    const int limit = retries         ? kRetryMilliseconds
                      : accepts_later ? kAcceptAgainMilliseconds
                      : has_strangers ? kLookMilliseconds
                                      : -1;
    const int count = ::epoll_wait(events_, events, 16, limit);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == &wake_) {
        std::uint64_t number = 0;
        (void)!::read(wake_, &number, sizeof number);
      } else if (events[i].data.ptr == &here_ || events[i].data.ptr == &for_hosts_) {
        accept_all(*static_cast<Listener*>(events[i].data.ptr));
      } else if (auto& watched = *static_cast<Watched*>(events[i].data.ptr);
                 !watched.is_ready(events[i].events)) {
        later_.push_back(&watched);
      }
    }
    if (retries) retry_all();
    for (Listener* const one : {&here_, &for_hosts_})
      if (one->accepts_later) accept_all(*one);
    if (has_strangers) look_after_strangers();
    std::erase_if(later_, [](Watched* one) { return one->is_ready(0); });
  }
}

/// Does not look out for connections while the process has no descriptor for one: the listener would stay
/// ready.
void LinkChannel::accept_all(Listener& listener) {
  for (;;) {
    const int socket = ::accept4(listener.socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (const bool later = socket < 0 && errno != EAGAIN; later != listener.accepts_later) {
      listener.accepts_later = later;
      epoll_event coming{.events = later ? 0u : EPOLLIN, .data = {.ptr = &listener}};
      ::epoll_ctl(events_, EPOLL_CTL_MOD, listener.socket, &coming);
    }
    if (socket < 0) return;
    if (&listener == &here_ && !is_of_own_user(socket)) {
      ::close(socket);
      continue;
    }
    std::unique_ptr<Stranger> stranger;
    if (&listener == &for_hosts_) {
      prepare_for_hosts(socket);
      stranger = std::make_unique<Stranger>(Side::kListens, setup_.job, setup_.process);
    }
    auto* const connection = new Connection(*this, socket, nullptr, std::move(stranger));
    if (connection->stranger != nullptr) admit(*connection);
    epoll_event coming{.events = EPOLLIN, .data = {.ptr = static_cast<Watched*>(connection)}};
    if (::epoll_ctl(events_, EPOLL_CTL_ADD, socket, &coming) != 0) {
      if (connection->stranger != nullptr)
        close_stranger(*connection, {});
      else
        delete connection;
    }
  }
}

void LinkChannel::watch(Connection& connection, bool writing) {
  epoll_event wanted{.events = EPOLLIN | (writing ? EPOLLOUT : 0u),
                     .data = {.ptr = static_cast<Watched*>(&connection)}};
  ::epoll_ctl(events_, EPOLL_CTL_MOD, connection.socket(), &wanted);
}

/// Why no connection has been made to the process with this address. `error`: errno of connected_socket().
static std::string why_no_connection(const std::string& address, int error) {
  if (error == ECONNREFUSED) return "nobody listens there: the job has ended, or has closed its ports";
  const std::string holder = error == EACCES ? holder_of(address) : std::string();
  if (holder.empty()) return base::why_refused("connect", error);
  return holder + " listens there: the job has ended, or has closed its ports";
}

/// The caller has the peer's lock. The peer is kOpen afterwards, or kConnecting, and the thread tries again.
/// False: `why` says why not.
bool LinkChannel::begin_connecting(Peer& peer, std::string& why) {
  if (is_elsewhere(peer)) return begin_connecting_to_host(peer, why);
  const std::string address = link_address(peer.job, peer.process);
  const int socket = connected_socket(address);
  if (socket < 0) {
    peer.is_anothers = errno == EACCES;
    if (peer.fails_at_once && errno != EAGAIN) {
      why = why_no_connection(address, errno);
      return false;
    }
    retry_later(peer, kPatience);
    return true;
  }
  auto* const connection = new Connection(*this, socket, peer.shared_from_this());
  begin_talking(peer, *connection);
  epoll_event coming{.events = EPOLLIN | EPOLLOUT, .data = {.ptr = static_cast<Watched*>(connection)}};
  ::epoll_ctl(events_, EPOLL_CTL_ADD, socket, &coming);
  return true;
}

/// The caller has the peer's lock. The thread tries to connect, unless it does already.
void LinkChannel::retry_later(Peer& peer, std::chrono::seconds patience) {
  if (peer.state == Peer::State::kConnecting) return;
  peer.state = Peer::State::kConnecting;
  peer.give_up = Clock::now() + patience;
  const std::lock_guard lock(retry_mutex_);
  retrying_.push_back(peer.shared_from_this());
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

/// The caller has the peer's lock. What waits for the peer goes over this connection, behind a greeting.
void LinkChannel::begin_talking(Peer& peer, Connection& connection) {
  Hello hello{.token = peer.job.token,
              .job = setup_.job,
              .process = setup_.process,
              .checks = setup_.checks,
              .where = where()};
  std::strncpy(hello.version, CLUMP_VERSION, sizeof hello.version - 1);
  const datatype::Layout body{&hello, sizeof hello, datatype::predefined(MPI_BYTE)};
  peer.backlog.push_front(
      PendingFrame::copied({.kind = Kind::kHello, .bytes = sizeof hello}, body, sizeof hello));
  peer.held += peer.backlog.front().held();
  note_backlog(peer);
  peer.connections.push_back(&connection);
  peer.state = Peer::State::kOpen;
  say_here(peer);
}

base::Status LinkChannel::connect(const PeerName& name, std::chrono::steady_clock::time_point limit) {
  PeerRef peer;
  Peer::Asking asking;
  for (bool is_asked = false; !is_asked;) {
    {
      const std::lock_guard lock(mutex_);
      CLUMP_TRY(start());
      peer = peer_of(name.job, name.process, name.where);
    }
    const std::lock_guard lock(peer->mutex);
    if (peer->state == Peer::State::kOver) continue;  // since then: no thread answers what asks it
    if (peer->state == Peer::State::kOpen && peer->is_welcome) return {};
    peer->fails_at_once = true;
    std::string why;
    if (peer->state == Peer::State::kNew && !begin_connecting(*peer, why)) {
      peer->fails_at_once = false;  // a message to it may wait until it listens
      return base::fail(MPI_ERR_PORT, "{}", why);
    }
    peer->asking.push_back(&asking);
    is_asked = true;
  }
  expect(1);
  constexpr std::chrono::milliseconds kLook{1};
  while (limit != limit.max() && !asking.over.done() && Clock::now() < limit)
    fiber::sleep_until(Clock::now() + kLook);
  bool is_late = false;
  if (limit != limit.max()) {
    const std::lock_guard lock(peer->mutex);
    is_late = std::erase(peer->asking, &asking) > 0;
  }
  if (!is_late) asking.over.wait();
  expect(-1);
  if (is_late)
    return base::fail(MPI_ERR_PORT, "its process has not answered in the time of the info key timeout");
  return asking.refusal.empty() ? base::Status() : base::fail(MPI_ERR_PORT, "{}", asking.refusal);
}

void LinkChannel::retry_all() {
  std::vector<PeerRef> all;
  {
    const std::lock_guard lock(retry_mutex_);
    all.swap(retrying_);
  }
  for (const PeerRef& peer : all) {
    std::string why;
    bool is_over = false;
    std::vector<Peer::Asking*> refused;
    {
      const std::lock_guard lock(peer->mutex);
      if (peer->state != Peer::State::kConnecting) continue;  // it has come by itself
      is_over = !begin_connecting(*peer, why);
      if (peer->proving != nullptr) continue;
      // On this host only connect() is refused: messages wait until it listens.
      if (is_over && !peer->backlog.empty() && !is_elsewhere(*peer)) {
        is_over = peer->fails_at_once = false;
        refused.swap(peer->asking);
      }
      if (!is_over && peer->state == Peer::State::kConnecting && Clock::now() > peer->give_up) {
        is_over = true;
        why = peer->is_anothers ? why_no_connection(link_address(peer->job, peer->process), EACCES)
                                : "it does not listen";
      }
      if (!is_over && peer->state == Peer::State::kConnecting) {
        const std::lock_guard of_list(retry_mutex_);
        retrying_.push_back(peer);
      }
    }
    for (Peer::Asking* const one : refused) {
      one->refusal = why;
      one->over.signal();
    }
    if (is_over) end_peer(peer, why);
  }
}

base::Status LinkChannel::publish(std::string_view name, std::string_view value) {
  const std::lock_guard lock(mutex_);
  CLUMP_TRY(start());
  auto found = std::ranges::find_if(names_, [](const PublicName& one) { return one.is_free(); });
  if (found == names_.end()) found = names_.emplace(names_.end());
  if (found->open(name, value, events_)) return {};
  const int error = errno;
  std::string why = base::why_refused("socket, bind, listen", error);
  if (error == EADDRINUSE) {
    const std::string holder = holder_of_public_name(name);
    why = holder.empty() ? "another job on this machine has published it: take another name"
                         : holder + " has taken it on this machine: take another name";
  }
  found->close();
  return base::fail(MPI_ERR_SERVICE, "{}", why);
}

void LinkChannel::unpublish(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(names_, [&](const PublicName& one) { return one.has(name); });
  if (found != names_.end()) found->close();  // which ends its being watched, too
}

bool link::Connection::is_ready(std::uint32_t events) {
  channel_.handle(*this, events);
  return true;
}

void LinkChannel::handle(Connection& connection, std::uint32_t events) {
  if (connection.stranger != nullptr) return prove(connection);
  if ((events & EPOLLOUT) != 0 && connection.peer != nullptr) flush(*connection.peer);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !connection.read(read_buffer_)) close(connection);
}

void LinkChannel::flush(Peer& peer) {
  std::vector<std::uint64_t> written;
  {
    const std::lock_guard lock(peer.mutex);
    while (peer.state == Peer::State::kOpen && !peer.backlog.empty()) {
      PendingFrame& first = peer.backlog.front();
      if (first.write(peer.connections.front()->socket()) != 1) break;
      if (first.message() != 0) written.push_back(first.message());
      peer.held -= first.held();
      peer.backlog.pop_front();
    }
    note_backlog(peer);
    if (peer.state == Peer::State::kOpen && peer.backlog.empty()) watch(*peer.connections.front(), false);
  }
  for (const std::uint64_t number : written)
    if (SendRequest* const message = settle(peer, number)) message->released();
}

void LinkChannel::close(Connection& connection) {
  ::epoll_ctl(events_, EPOLL_CTL_DEL, connection.socket(), nullptr);
  if (const PeerRef peer = connection.peer) {
    bool is_last = false;
    {
      const std::lock_guard lock(peer->mutex);
      std::erase(peer->connections, &connection);
      is_last = peer->connections.empty();
      if (is_last) peer->state = Peer::State::kOver;
      if (!connection.wrong().empty()) {
        peer->wrong = connection.wrong();
        for (const Connection* const other : peer->connections) ::shutdown(other->socket(), SHUT_RDWR);
      }
    }
    // What the process has said last may still be read from the other one.
    if (is_last) end_peer(peer, peer->wrong);
  }
  delete &connection;
}

/// Nothing comes from this process any more, and nothing reaches it.
void LinkChannel::end_peer(const PeerRef& peer, std::string why) {
  std::map<std::uint64_t, Announced> released;
  std::vector<Peer::Asking*> asking;
  bool is_loss = !why.empty();
  {
    const std::lock_guard lock(peer->mutex);
    peer->state = Peer::State::kOver;
    is_loss = std::exchange(peer->is_here, false) || !peer->is_welcome || is_loss;
    released.swap(peer->announced);
    peer->backlog.clear();
    peer->held = 0;
    note_backlog(*peer);
    asking.swap(peer->asking);
  }
  for (Peer::Asking* const one : asking) {
    one->refusal = why.empty() ? "the process of the port has ended" : why;
    one->over.signal();
  }
  free_unheld(peer);
  std::vector<int> held;
  int place = -1;
  PeerName name;
  {
    const std::lock_guard lock(mutex_);
    const auto known = peers_.find({peer->job, peer->process});
    if (known != peers_.end() && known->second == peer) peers_.erase(known);
    for (int i = 0; i < setup_.places; ++i) {
      const Place& one = places_[static_cast<std::size_t>(i)];
      if (one.peer != peer) continue;
      held.push_back(place = setup_.first_place + i);
      name = one.name;
    }
  }
  if (is_loss && place >= 0) setup_.lost(place, name, why);
  for (const int number : held) setup_.gone(number);
  for (const auto& [number, announced] : released) {
    announced.message->original = nullptr;
    announced.message->released();
    expect(-1);
  }
}

/// The process does not need the places that its ranks have here, if nothing here does.
void LinkChannel::free_unheld(const PeerRef& peer) {
  std::vector<int> unheld;
  {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < setup_.places; ++i) {
      const Place& one = places_[static_cast<std::size_t>(i)];
      if (one.peer == peer && one.holds == 0) unheld.push_back(setup_.first_place + i);
    }
  }
  for (const int number : unheld) {
    setup_.gone(number);
    const std::lock_guard lock(mutex_);
    Place& place = place_at(number);
    if (place.peer == peer && place.holds == 0) free_place(place);
  }
}

}  // namespace clump::net
