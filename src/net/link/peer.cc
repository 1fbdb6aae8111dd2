// Frames from a process of another job.
#include "net/link/peer.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "net/link/link_channel.h"

namespace clump::net {

using namespace link;

namespace {

datatype::Layout solid(const void* data, std::size_t bytes) {
  static const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  return {const_cast<void*>(data), static_cast<Count>(bytes), byte};
}

SendRequest* message_of(const Frame& frame) { return reinterpret_cast<SendRequest*>(frame.message); }

/// On a new connection there is room for this.
void write_now(int socket, const Frame& frame, std::string_view text = {}) {
  PendingFrame::copied(frame, solid(text.data(), text.size()), static_cast<Count>(text.size())).write(socket);
}

std::string why_refused(const Hello& hello, std::uint64_t token, std::uint32_t checks) {
  if (hello.token != token) return "the token is not that of the job";
  if (std::string_view(hello.version) != CLUMP_VERSION)
    return fmt::format("the job runs with Clump {}, and the one that connects with {}", CLUMP_VERSION,
                       hello.version);
  if (hello.checks != checks)
    return "of the two jobs one runs with mpiexec --check: both have to, or none";
  return {};
}

}  // namespace

link::Connection::~Connection() { ::close(socket_); }

bool link::Connection::take(const Frame& frame, std::span<const std::byte> bytes) {
  if (frame.kind == Kind::kHello) return channel_.greet(*this, bytes);
  if (peer == nullptr) return false;
  const auto answer_asking = [&](const std::string& refusal) {
    std::vector<Peer::Asking*> asking;
    {
      const std::lock_guard lock(peer->mutex);
      peer->is_welcome = refusal.empty();
      peer->fails_at_once = false;
      asking.swap(peer->asking);
    }
    for (Peer::Asking* const one : asking) {
      one->refusal = refusal;
      one->over.signal();
    }
  };
  switch (frame.kind) {
    case Kind::kWelcome:
      answer_asking({});
      return true;
    case Kind::kRefused:
      answer_asking("refused: " + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      return false;
    case Kind::kBye:
    case Kind::kHere: {
      {
        const std::lock_guard lock(peer->mutex);
        peer->is_here = frame.kind == Kind::kHere;
      }
      if (frame.kind == Kind::kBye) channel_.free_unheld(peer);
      return true;
    }
    default:
      channel_.deliver(peer, frame, bytes);
      return true;
  }
}

std::span<std::byte> link::Connection::place_for(const Frame& frame) {
  return reinterpret_cast<LinkRendezvous*>(frame.rendezvous)->place();
}

void link::Connection::take_data(const Frame& frame, std::span<const std::byte> bytes, std::size_t in_place) {
  reinterpret_cast<LinkRendezvous*>(frame.rendezvous)->take(bytes, in_place);
}

bool LinkChannel::greet(Connection& connection, std::span<const std::byte> bytes) {
  Hello hello;
  if (connection.peer != nullptr || bytes.size() != sizeof hello) return false;
  std::memcpy(&hello, bytes.data(), sizeof hello);
  hello.version[sizeof hello.version - 1] = '\0';
  if (hello.mark != Hello::kMark) return false;
  if (const std::string why = why_refused(hello, setup_.job.token, setup_.checks); !why.empty()) {
    const auto bytes = static_cast<std::int64_t>(why.size());
    write_now(connection.socket(), {.kind = Kind::kRefused, .bytes = bytes}, why);
    return false;
  }
  write_now(connection.socket(), {.kind = Kind::kWelcome});
  PeerRef peer;
  {
    const std::lock_guard lock(mutex_);
    peer = peer_of(hello.job, hello.process);
  }
  connection.peer = peer;
  std::vector<Peer::Asking*> asking;
  {
    const std::lock_guard lock(peer->mutex);
    peer->connections.push_back(&connection);
    if (peer->state == Peer::State::kOpen) return true;
    peer->state = Peer::State::kOpen;
    peer->is_welcome = true;
    if (!peer->backlog.empty()) watch(connection, true);
    asking.swap(peer->asking);
  }
  for (Peer::Asking* const one : asking) one->over.signal();
  return true;
}

void LinkChannel::deliver(const PeerRef& peer, const Frame& frame, std::span<const std::byte> bytes) {
  const bool is_of_job = (frame.context & ~1u) == setup_.job_context;
  const int source = is_of_job ? place_of_sender(peer, frame.source) : frame.envelope_source;
  const Envelope envelope(frame.context, source, frame.tag);
  Sink* const sink = frame.kind == Kind::kEager || frame.kind == Kind::kRts || frame.kind == Kind::kCancel
                         ? setup_.find_sink(frame.destination)
                         : nullptr;
  switch (frame.kind) {
    case Kind::kEager:
      if (sink == nullptr || source < 0) return;
      sink->take(envelope, frame.bytes, solid(bytes.data(), bytes.size()), Sink::Bound::kIgnore);
      return tell_crowded(*peer, frame.destination, sink->crowded());
    case Kind::kRts: {
      if (sink == nullptr || source < 0)
        return post(*peer, PendingFrame::copied({.kind = Kind::kFin, .message = frame.message}, {}, 0));
      auto* const incoming = new LinkRendezvous(*this, peer, frame, envelope);
      incoming->sink = sink;
      if (sink->arrive(*incoming)) sink->move(*incoming);
      return tell_crowded(*peer, frame.destination, sink->crowded());
    }
    case Kind::kCts:
      return post(*peer, PendingFrame::streamed(*message_of(frame), frame.rendezvous, frame.bytes));
    case Kind::kFin:
      if (is_settled(*peer, message_of(frame))) message_of(frame)->released();
      return;
    case Kind::kCancel: {
      SendRequest* const kept = sink != nullptr ? sink->retract_remote(envelope, message_of(frame)) : nullptr;
      if (kept != nullptr) static_cast<LinkRendezvous*>(kept)->give_back();
      return;
    }
    case Kind::kCancelled:
      if (is_settled(*peer, message_of(frame))) message_of(frame)->cancelled();
      return;
    case Kind::kCrowded: {
      const std::lock_guard lock(peer->mutex);
      if (frame.bytes != 0)
        peer->crowded.insert(frame.source);
      else
        peer->crowded.erase(frame.source);
      return;
    }
    default:
      return;
  }
}

/// Tells a process, from which a message for `rank` has come, if it does not know.
void LinkChannel::tell_crowded(Peer& peer, int rank, bool crowded) {
  if (peer.told_crowded.contains(rank) == crowded) return;
  if (crowded)
    peer.told_crowded.insert(rank);
  else
    peer.told_crowded.erase(rank);
  post(peer, PendingFrame::copied({.kind = Kind::kCrowded, .source = rank, .bytes = crowded ? 1 : 0}, {}, 0));
}

void link::LinkRendezvous::tell(Kind kind) {
  const Frame frame{.kind = kind, .message = reinterpret_cast<std::uint64_t>(original)};
  channel_.post(*peer_, PendingFrame::copied(frame, {}, 0));
}

void link::LinkRendezvous::pull() {
  if (wanted() == 0) return finish_with_fin();
  channel_.post(*peer_, PendingFrame::copied({.kind = Kind::kCts,
                                          .bytes = wanted(),
                                          .message = reinterpret_cast<std::uint64_t>(original),
                                          .rendezvous = reinterpret_cast<std::uint64_t>(this)},
                                         {}, 0));
}

std::span<std::byte> link::LinkRendezvous::place() const {
  if (!to().type->is_dense()) return {};
  return {static_cast<std::byte*>(to().base) + arrived_, static_cast<std::size_t>(wanted() - arrived_)};
}

void link::LinkRendezvous::take(std::span<const std::byte> bytes, std::size_t in_place) {
  if (in_place == 0) datatype::unpack(to(), arrived_, bytes);
  arrived_ += static_cast<Count>(in_place + bytes.size());
  if (arrived_ == wanted()) finish();
}

}  // namespace clump::net
