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

namespace clump::net {

using namespace link;

namespace {

constexpr Count kMostEager = 64 * 1024;
/// With more than this not taken by a process, messages to it are announced.
constexpr std::size_t kMostHeld = 4 << 20;

// A context: the highest bit; a number that this process alone has on this machine; a count; the lowest bit is
// the communicator's.
constexpr int kContextNumbers = 1 << 13;
constexpr std::uint32_t kContextCounts = 1 << 17;

std::uint64_t address_of(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

}  // namespace

LinkChannel::LinkChannel(Setup setup)
    : Channel(ChannelKind::kLink),
      setup_(std::move(setup)),
      address_(link_address(setup_.job, setup_.process)),
      traffic_(static_cast<std::size_t>(setup_.first_place + setup_.places)),
      places_(std::make_unique<Place[]>(static_cast<std::size_t>(setup_.places))) {
  set_lane_limit(kMostEager);
  set_least_eager(kMostEager);
}

LinkChannel::~LinkChannel() = default;

void LinkChannel::expect(int change) {
  // The thread of the link may wake ranks: it counts as one of theirs.
  const int before = expecting_.fetch_add(change, std::memory_order_acq_rel);
  if (before == 0 && change > 0) fiber::thread_begins();
  if (before == 1 && change < 0) fiber::thread_ends();
}

PeerName LinkChannel::name_of(int rank) const {
  if (is_place(rank)) return places_[static_cast<std::size_t>(rank - setup_.first_place)].name;
  return {setup_.job, rank, setup_.process_of(rank)};
}

bool LinkChannel::is_place(int rank) const {
  if (rank < setup_.first_place || !has_places()) return false;
  const std::lock_guard lock(mutex_);
  return places_[static_cast<std::size_t>(rank - setup_.first_place)].peer != nullptr;
}

LinkChannel::PeerRef LinkChannel::peer_of(const JobName& job, int process) {
  PeerRef& known = peers_[{job, process}];
  if (known != nullptr) {
    const std::lock_guard lock(known->mutex);
    if (known->state != Peer::State::kOver && !known->we_left) return known;
  }
  return known = std::make_shared<Peer>(job, process);
}

int LinkChannel::place_of(const PeerName& name) {
  if (name.job == setup_.job) return name.rank;
  const std::lock_guard lock(mutex_);
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
  if (!start().ok()) return -1;
  for (int i = setup_.places - 1; i >= 0; --i) {
    Place& place = places_[static_cast<std::size_t>(i)];
    const int number = setup_.first_place + i;
    if (place.peer != nullptr || !setup_.take_place(number)) continue;
    place = {peer_of(name.job, name.process), name};
    {
      const std::lock_guard of_peer(place.peer->mutex);
      ++place.peer->places;
    }
    numbers_[name] = number;
    any_.store(true, std::memory_order_relaxed);
    return number;
  }
  return -1;
}

void LinkChannel::hold(int number) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    Place& place = places_[static_cast<std::size_t>(number - setup_.first_place)];
    is_first = place.holds++ == 0;
    place.was_held = true;
  }
  if (is_first) expect(1);
}

void LinkChannel::release(int number) {
  {
    const std::lock_guard lock(mutex_);
    if (--places_[static_cast<std::size_t>(number - setup_.first_place)].holds > 0) return;
  }
  free_place(number, true);
  expect(-1);
}

void LinkChannel::drop(int number) {
  {
    const std::lock_guard lock(mutex_);
    const Place& place = places_[static_cast<std::size_t>(number - setup_.first_place)];
    if (place.peer == nullptr || place.holds > 0) return;
  }
  free_place(number, true);
}

/// With the last place of a process this one leaves it.
void LinkChannel::free_place(int number, bool tell) {
  PeerRef peer;
  bool leaves = false;
  {
    const std::lock_guard lock(mutex_);
    Place& place = places_[static_cast<std::size_t>(number - setup_.first_place)];
    if (place.peer == nullptr || place.holds > 0) return;
    peer = std::move(place.peer);
    numbers_.erase(place.name);
    place = {};
    const std::lock_guard of_peer(peer->mutex);
    if (--peer->places > 0) return;
    const auto known = peers_.find({peer->job, peer->process});
    if (known != peers_.end() && known->second == peer) peers_.erase(known);
    leaves = peer->state != Peer::State::kNew && peer->state != Peer::State::kOver;
    if (!leaves) peer->we_left = true;
  }
  if (!leaves || !tell) return;
  post(*peer, PendingFrame::copied({.kind = Kind::kBye}, {}, 0));
  const std::lock_guard lock(peer->mutex);
  peer->we_left = true;
}

base::Status LinkChannel::new_context(std::uint32_t& context) {
  const std::lock_guard lock(mutex_);
  if (context_number_ < 0) {
    const auto first = static_cast<int>(base::random_number() % kContextNumbers);
    for (int i = 0; i < kContextNumbers && context_number_ < 0; ++i) {
      const int number = (first + i) % kContextNumbers;
      // The name is taken as long as this process lives; so no other one has the number.
      context_socket_ = bound_socket(fmt::format("clump-contexts-{}", number), SOCK_DGRAM);
      if (context_socket_ >= 0) context_number_ = number;
    }
    if (context_number_ < 0)
      return base::fail(MPI_ERR_OTHER, "all {} numbers for communicators between jobs of this machine are in use",
                        kContextNumbers);
    context_ = static_cast<std::uint32_t>(base::random_number());
  }
  const std::uint32_t count = context_++ % kContextCounts;
  context = 0x80000000u | static_cast<std::uint32_t>(context_number_) << 18 | count << 1;
  return {};
}

Frame LinkChannel::frame_of(Kind kind, Route route, const Envelope& envelope, Count bytes) const {
  const Place& place = places_[static_cast<std::size_t>(route.destination - setup_.first_place)];
  return {.kind = kind,
          .source = route.source,
          .destination = place.name.rank,
          .context = envelope.context(),
          .envelope_source = envelope.source(),
          .tag = envelope.tag(),
          .bytes = bytes};
}

bool LinkChannel::try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  if (bytes > lane_limit() || bytes > kMostEager) return false;
  Peer* const peer = places_[static_cast<std::size_t>(route.destination - setup_.first_place)].peer.get();
  if (peer == nullptr) return false;
  const Frame frame = frame_of(Kind::kEager, route, envelope, bytes);
  Traffic& traffic = traffic_[static_cast<std::size_t>(route.source)];
  {
    const std::lock_guard lock(peer->mutex);
    const auto crowded = peer->crowded.find(frame.destination);
    const bool is_crowded = crowded != peer->crowded.end();
    if (is_crowded && --crowded->second <= 0) peer->crowded.erase(crowded);
    if (peer->held > kMostHeld || is_crowded) {
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
  Peer* const peer = places_[static_cast<std::size_t>(route.destination - setup_.first_place)].peer.get();
  if (peer == nullptr) return message.released();  // no communicator has the place: nobody waits there
  if (!message.synchronous && try_send(route, message.envelope, message.bytes, message.payload))
    return message.released();
  traffic[Way::kReference].add(message.bytes);
  Frame frame = frame_of(Kind::kRts, route, message.envelope, message.bytes);
  frame.message = address_of(&message);
  PendingFrame rts = PendingFrame::copied(frame, {}, 0);
  rts.set_announced(message);
  post(*peer, std::move(rts));
}

bool LinkChannel::retract(Route route, SendRequest& message) {
  Peer* const peer = places_[static_cast<std::size_t>(route.destination - setup_.first_place)].peer.get();
  if (peer == nullptr) return false;
  {
    const std::lock_guard lock(peer->mutex);
    const auto found = std::ranges::find_if(
        peer->backlog, [&](const PendingFrame& waiting) { return waiting.announces(message); });
    if (found != peer->backlog.end()) {
      peer->held -= found->held();
      peer->backlog.erase(found);
      note_backlog(*peer);
      return true;
    }
  }
  Frame frame = frame_of(Kind::kCancel, route, message.envelope, message.bytes);
  frame.message = address_of(&message);
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
  SendRequest* const message = what.message();
  bool is_done = false;
  {
    const std::lock_guard lock(peer.mutex);
    if (peer.state == Peer::State::kOver) {
      is_done = true;  // the process is gone, in order: it has left before
    } else if (peer.state == Peer::State::kOpen && peer.backlog.empty()) {
      is_done = what.write(peer.out->socket()) == 1;
    }
    if (!is_done) {
      peer.held += what.held();
      peer.backlog.push_back(std::move(what));
      note_backlog(peer);
      std::string why;
      if (peer.state == Peer::State::kNew) begin_connecting(peer, why);
      if (peer.state == Peer::State::kOpen) watch(*peer.out, true);
    }
  }
  if (is_done && message != nullptr) message->released();
}

}  // namespace clump::net
