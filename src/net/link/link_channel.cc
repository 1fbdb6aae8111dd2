// Sending, and places. The thread is in link_thread.cc, what comes in is delivered by peer.cc.
#include "net/link/link_channel.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/random.h"
#include "base/why_refused.h"
#include "fiber/awake_threads.h"
#include "net/link/abstract_socket.h"
#include "net/link/host_socket.h"

namespace clump::net {

using namespace link;

namespace {

constexpr Count kMostEager = 64 * 1024;
/// With more than this not taken by a process, messages to it are announced.
constexpr std::size_t kMostHeld = 4 << 20;

// A context: the highest bit; a number that this process alone has of this user's on this machine; a count;
// the lowest bit is the communicator's.
constexpr int kContextNumbers = 1 << 13;
constexpr std::uint32_t kContextCounts = 1 << 17;

std::string context_address(int number) { return fmt::format("clump-contexts-{}-{}", ::geteuid(), number); }

}  // namespace

LinkChannel::LinkChannel(Setup setup)
    : Channel(ChannelKind::kLink),
      setup_(std::move(setup)),
      address_(link_address(setup_.job, setup_.process)),
      traffic_(static_cast<std::size_t>(setup_.first_place + setup_.places)),
      places_(static_cast<std::size_t>(setup_.places)) {
  set_lane_limit(kMostEager);
  set_least_eager(kMostEager);
}

LinkChannel::~LinkChannel() = default;

HeldPlace& HeldPlace::operator=(HeldPlace&& other) noexcept {
  std::swap(channel_, other.channel_);
  std::swap(place_, other.place_);
  return *this;
}

HeldPlace::~HeldPlace() {
  if (channel_ != nullptr) channel_->release(place_);
}

KeptNumber& KeptNumber::operator=(KeptNumber&& other) noexcept {
  std::swap(channel_, other.channel_);
  std::swap(number_, other.number_);
  return *this;
}

KeptNumber::~KeptNumber() {
  if (channel_ != nullptr) channel_->forget(number_);
}

void LinkChannel::expect(int change) {
  // The thread of the link may wake ranks: it counts as one of theirs.
  const int before = expecting_.fetch_add(change, std::memory_order_acq_rel);
  if (before == 0 && change > 0) fiber::thread_begins();
  if (before == 1 && change < 0) fiber::thread_ends();
}

PeerName LinkChannel::name_of(int rank) const {
  if (rank >= setup_.first_place && has_places()) {
    const std::lock_guard lock(mutex_);
    const Place& place = place_at(rank);
    if (place.has_number()) return place.name;
  }
  const int process = setup_.process_of(rank);
  PeerName name{setup_.job, rank, process, where()};
  if (process == setup_.process || !name.where.is_reachable()) return name;
  const std::lock_guard lock(mutex_);
  const auto known = locations_.find(process);
  name.where = known != locations_.end() ? known->second : Location{};
  return name;
}

Location LinkChannel::where() const {
  const Location* const listens_at = listens_at_.load(std::memory_order_acquire);
  return listens_at != nullptr ? *listens_at : Location{.host = own_host()};
}

void LinkChannel::note_location(int process, const Location& where) {
  const std::lock_guard lock(mutex_);
  locations_[process] = where;
}

bool LinkChannel::knows_location(int process) const {
  const std::lock_guard lock(mutex_);
  return process == setup_.process || locations_.contains(process);
}

bool LinkChannel::is_place(int rank) const {
  if (rank < setup_.first_place || !has_places()) return false;
  const std::lock_guard lock(mutex_);
  return place_at(rank).peer != nullptr;
}

LinkChannel::PeerRef LinkChannel::peer_of(const JobName& job, int process, const Location& where) {
  PeerRef& known = peers_[{job, process}];
  if (known != nullptr) {
    const std::lock_guard lock(known->mutex);
    if (!known->where.is_reachable()) known->where = where;
    if (known->state != Peer::State::kOver) return known;
  }
  return known = std::make_shared<Peer>(job, process, where);
}

/// The caller has the lock. -1: there is no room.
int LinkChannel::place_of(const PeerName& name) {
  const auto known = numbers_.find(name);
  int number = known != numbers_.end() ? known->second : -1;
  if (number >= 0 && place_at(number).peer != nullptr) return number;
  if (!start().ok()) return -1;
  for (int i = setup_.places - 1; i >= 0 && number < 0; --i)
    if (!places_[static_cast<std::size_t>(i)].has_number()) number = setup_.first_place + i;
  if (number < 0) return -1;
  setup_.take_place(number);
  Place& place = place_at(number);
  place.peer = peer_of(name.job, name.process, name.where);
  place.name = name;
  numbers_[name] = number;
  any_.store(true, std::memory_order_relaxed);
  return number;
}

/// A process that has left sends nothing that needs a place, but for answers to a rank that has given it up.
int LinkChannel::place_of_sender(const PeerRef& peer, int rank) {
  const std::lock_guard lock(mutex_);
  PeerName name{peer->job, rank, peer->process, {}};
  const auto known = numbers_.find(name);
  if (known != numbers_.end() && place_at(known->second).peer != nullptr) return known->second;
  {
    const std::lock_guard of_peer(peer->mutex);
    if (!peer->is_here) return -1;
    name.where = peer->where;
  }
  return place_of(name);
}

HeldPlace LinkChannel::hold_place_of(const PeerName& name, int& number) {
  number = name.rank < setup_.first_place ? name.rank : -1;  // another job may have told the name
  if (name.job == setup_.job) return {};
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    number = place_of(name);
    if (number < 0) return {};
    is_first = add_hold(place_at(number));
  }
  if (is_first) expect(1);
  return HeldPlace(*this, number);
}

bool LinkChannel::has_ended(int number) const {
  int rank = 0;
  const PeerRef peer = find(number, rank);
  if (peer == nullptr) return true;
  const std::lock_guard lock(peer->mutex);
  return peer->state == Peer::State::kOver;
}

HeldPlace LinkChannel::hold(int number) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (number < setup_.first_place) return {};
    Place& place = place_at(number);
    if (place.peer == nullptr) return {};
    is_first = add_hold(place);
  }
  if (is_first) expect(1);
  return HeldPlace(*this, number);
}

/// The caller has the lock. Whether it is the first one.
bool LinkChannel::add_hold(Place& place) {
  if (place.holds++ > 0) return false;
  const std::lock_guard of_peer(place.peer->mutex);
  ++place.peer->held_places;
  say_here(*place.peer);
  return true;
}

void LinkChannel::release(int number) {
  {
    const std::lock_guard lock(mutex_);
    Place& place = place_at(number);
    if (--place.holds > 0) return;
    const PeerRef peer = place.peer;
    const std::lock_guard of_peer(peer->mutex);
    if (--peer->held_places == 0 && std::exchange(peer->we_are_here, false))
      post_locked(*peer, PendingFrame::copied({.kind = Kind::kBye}, {}, 0));
    if (!peer->is_here) free_place(place);
  }
  expect(-1);
}

/// The caller has the lock.
void LinkChannel::free_place(Place& place) {
  place.peer = nullptr;
  place.holds = 0;
  if (place.has_number()) return;
  numbers_.erase(place.name);
  place = {};
}

KeptNumber LinkChannel::keep(int number) {
  if (number < setup_.first_place || !has_places()) return {};
  const std::lock_guard lock(mutex_);
  Place& place = place_at(number);
  if (!place.has_number()) return {};
  ++place.keeps;
  return KeptNumber(*this, number);
}

void LinkChannel::forget(int number) {
  const std::lock_guard lock(mutex_);
  Place& place = place_at(number);
  if (--place.keeps == 0 && place.peer == nullptr) free_place(place);
}

base::Status LinkChannel::new_context(std::uint32_t& context) {
  const std::lock_guard lock(mutex_);
  if (context_number_ < 0) {
    const auto first = static_cast<int>(base::random_number() % kContextNumbers);
    for (int i = 0; i < kContextNumbers && context_number_ < 0; ++i) {
      const int number = (first + i) % kContextNumbers;
      // The name is taken as long as this process lives; so no other one of this user has the number, and
      // contexts never meet those of other users. It listens, so that holder_of() tells whose it is.
      context_socket_ = bound_socket(context_address(number), SOCK_STREAM);
      if (context_socket_ >= 0 && ::listen(context_socket_, 1) == 0) context_number_ = number;
      if (context_number_ < 0 && context_socket_ >= 0) {
        const int error = errno;
        ::close(std::exchange(context_socket_, -1));
        errno = error;
      }
      if (context_number_ < 0 && errno != EADDRINUSE)
        return base::fail(MPI_ERR_OTHER, "no number for a communicator between jobs: {}",
                          base::why_refused("socket, bind", errno));
    }
    if (context_number_ < 0) {
      const std::string holder = holder_of(context_address(first));
      return base::fail(
          MPI_ERR_OTHER, "all {} numbers for communicators between jobs of this machine are in use{}",
          kContextNumbers, holder.empty() ? holder : fmt::format("; {} has taken some of them", holder));
    }
    context_ = static_cast<std::uint32_t>(base::random_number());
  }
  const std::uint32_t count = context_++ % kContextCounts;
  context = 0x80000000u | static_cast<std::uint32_t>(context_number_) << 18 | count << 1;
  return {};
}

/// The process of a rank of another job, and the rank's number there; null: it has no place any more.
LinkChannel::PeerRef LinkChannel::find(int number, int& rank) const {
  const std::lock_guard lock(mutex_);
  const Place& place = place_at(number);
  rank = place.name.rank;
  return place.peer;
}

Frame LinkChannel::frame_of(Kind kind, Route route, int destination, const Envelope& envelope, Count bytes) {
  return {.kind = kind,
          .source = route.source,
          .destination = destination,
          .context = envelope.context(),
          .envelope_source = envelope.source(),
          .tag = envelope.tag(),
          .bytes = bytes};
}

bool LinkChannel::try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  if (bytes > lane_limit() || bytes > kMostEager) return false;
  int rank = 0;
  const PeerRef peer = find(route.destination, rank);
  if (peer == nullptr) return false;
  const Frame frame = frame_of(Kind::kEager, route, rank, envelope, bytes);
  Traffic& traffic = traffic_[static_cast<std::size_t>(route.source)];
  {
    const std::lock_guard lock(peer->mutex);
    if (peer->held > kMostHeld || peer->crowded.contains(frame.destination)) {
      traffic.refused.add();
      return false;
    }
  }
  traffic[Way::kLane].add(bytes);
  post(*peer, PendingFrame::copied(frame, payload, bytes));
  return true;
}

void LinkChannel::send(Route route, SendRequest& message) {
  Traffic& traffic = traffic_[static_cast<std::size_t>(route.source)];
  int rank = 0;
  const PeerRef peer = find(route.destination, rank);
  if (peer == nullptr) return message.released();  // nothing holds the place: no receive waits there
  if (!message.synchronous && try_send(route, message.envelope, message.bytes, message.payload))
    return message.released();
  traffic[Way::kReference].add(message.bytes);
  Frame frame = frame_of(Kind::kRts, route, rank, message.envelope, message.bytes);
  expect(1);
  {
    const std::lock_guard lock(peer->mutex);
    if (peer->state != Peer::State::kOver) {
      frame.message = peer->next_number();
      message.original = reinterpret_cast<SendRequest*>(frame.message);
      peer->announced.emplace(frame.message, Announced{.message = &message, .bytes = message.bytes});
      PendingFrame rts = PendingFrame::copied(frame, {}, 0);
      rts.set_announced(message);
      post_locked(*peer, std::move(rts));
      return;
    }
  }
  expect(-1);
  message.released();
}

/// A message that is announced to this process: it is not any more, and the caller tells its sender. Null:
/// there is none with this number.
SendRequest* LinkChannel::settle(Peer& peer, std::uint64_t message) {
  SendRequest* settled = nullptr;
  {
    const std::lock_guard lock(peer.mutex);
    const auto found = peer.announced.find(message);
    if (found == peer.announced.end()) return nullptr;
    settled = found->second.message;
    settled->original = nullptr;
    peer.announced.erase(found);
  }
  expect(-1);
  return settled;
}

bool LinkChannel::retract(Route route, SendRequest& message) {
  int rank = 0;
  const PeerRef peer = find(route.destination, rank);
  if (peer == nullptr) return false;
  Frame frame = frame_of(Kind::kCancel, route, rank, message.envelope, message.bytes);
  {
    const std::lock_guard lock(peer->mutex);
    frame.message = reinterpret_cast<std::uint64_t>(message.original);
    const auto announced = peer->announced.find(frame.message);
    if (announced == peer->announced.end() || announced->second.message != &message)
      return false;  // it has left
    const auto found = std::ranges::find_if(
        peer->backlog, [&](const PendingFrame& waiting) { return waiting.announces(message); });
    if (found != peer->backlog.end()) {
      peer->held -= found->held();
      peer->backlog.erase(found);
      note_backlog(*peer);
      peer->announced.erase(announced);
      message.original = nullptr;
      expect(-1);
      return true;
    }
    announced->second.is_cancelled = true;
  }
  post(*peer, PendingFrame::copied(frame, {}, 0));
  return false;
}

/// Counts the peers that have a backlog. The caller has the peer's lock.
void LinkChannel::note_backlog(Peer& peer) {
  const bool has = !peer.backlog.empty();
  if (has == peer.has_backlog) return;
  peer.has_backlog = has;
  unflushed_.fetch_add(has ? 1 : -1, std::memory_order_acq_rel);
}

void LinkChannel::post(Peer& peer, PendingFrame what) {
  const std::uint64_t message = what.message();
  bool is_done = false;
  {
    const std::lock_guard lock(peer.mutex);
    is_done = post_locked(peer, std::move(what));
  }
  SendRequest* const sent = is_done && message != 0 ? settle(peer, message) : nullptr;
  if (sent != nullptr) sent->released();
}

/// If there is a connection: this process may end before it has sent anything else. The caller has the peer's
/// lock.
void LinkChannel::say_here(Peer& peer) {
  if (peer.state == Peer::State::kOpen && peer.held_places > 0 && !std::exchange(peer.we_are_here, true))
    post_locked(peer, PendingFrame::copied({.kind = Kind::kHere}, {}, 0));
}

/// The caller has the peer's lock. True: nothing of it waits in the backlog.
bool LinkChannel::post_locked(Peer& peer, PendingFrame what) {
  if (peer.state == Peer::State::kOver) return true;  // the process is gone, in order or not: lost() has told
  if (peer.held_places > 0 && !std::exchange(peer.we_are_here, true))
    post_locked(peer, PendingFrame::copied({.kind = Kind::kHere}, {}, 0));
  if (peer.state == Peer::State::kOpen && peer.backlog.empty() &&
      what.write(peer.connections.front()->socket()) == 1)
    return true;
  peer.held += what.held();
  peer.backlog.push_back(std::move(what));
  note_backlog(peer);
  std::string why;
  if (peer.state == Peer::State::kNew) begin_connecting(peer, why);
  if (peer.state == Peer::State::kOpen) watch(*peer.connections.front(), true);
  return false;
}

}  // namespace clump::net
