// Frames from a process of another job.
#include "net/link/peer.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <limits>
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

/// What is wrong with a frame alone; empty: nothing.
std::string_view why_wrong(const Frame& frame) {
  const auto has = [&](std::int64_t least, std::int64_t most) {
    return frame.bytes >= least && frame.bytes <= most;
  };
  const bool has_ranks = frame.source >= 0 && frame.envelope_source >= 0;
  constexpr std::string_view kRank = "there is no such rank", kLength = "there is no such length",
                             kNumber = "there is no such number of a message", kOften = "it was said before";
  switch (frame.kind) {
    case Kind::kEager:
      return !has_ranks ? kRank : has(0, Incoming::kMost) ? "" : kLength;
    case Kind::kRts:
    case Kind::kCancel:
      if (!Peer::is_number(frame.message)) return kNumber;
      return !has_ranks ? kRank : has(0, std::numeric_limits<std::int64_t>::max()) ? "" : kLength;
    case Kind::kCts:
    case Kind::kData:
      return has(1, std::numeric_limits<std::int64_t>::max()) ? "" : kLength;
    case Kind::kCrowded:
      return frame.source < 0 ? kRank : has(0, 1) ? "" : kLength;
    case Kind::kFin:
    case Kind::kCancelled:
    case Kind::kBye:
    case Kind::kHere:
      return {};
    case Kind::kHello:
    case Kind::kWelcome:
    case Kind::kRefused:
      return kOften;
  }
  return "this version of Clump knows no such kind";
}

/// The process at the other end of a socket, for messages.
std::string describe_process(int socket) {
  ucred other{};  // of another host's the system knows none
  socklen_t length = sizeof other;
  const bool is_known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 && other.pid > 0;
  return is_known ? fmt::format("process {}", other.pid) : "a process";
}

/// On a new connection there is room for this.
void write_now(int socket, const Frame& frame, std::string_view text = {}) {
  PendingFrame::copied(frame, solid(text.data(), text.size()), static_cast<Count>(text.size())).write(socket);
}

std::string why_refused(const Hello& hello, const JobName& job, std::uint32_t checks) {
  if (hello.token != job.token) return "the token is not that of the job";
  if (std::string_view(hello.version) != CLUMP_VERSION)
    return fmt::format("the job runs with Clump {}, and the one that connects with {}", CLUMP_VERSION,
                       hello.version);
  if (hello.checks != checks) return "of the two jobs one runs with mpiexec --check: both have to, or none";
  if (hello.process < 0 || hello.job.id == 0 || hello.job.id == job.id)
    return "it does not say which process of which other job it is";
  return {};
}

}  // namespace

link::Connection::~Connection() { ::close(socket_); }

/// Always false.
bool link::Connection::refuse(const Frame& frame, std::string_view why) {
  wrong_ = fmt::format(
      "{} has sent a wrong frame to {}: one of kind {} from rank {} for rank {}, with {} bytes, message {} "
      "and number "
      "{}: {}. Its memory is damaged, or it is another version of Clump",
      describe_process(socket_), channel_.address_, static_cast<std::uint32_t>(frame.kind), frame.source,
      frame.destination, frame.bytes, frame.message, frame.rendezvous, why);
  return false;
}

bool link::Connection::may_begin(const Frame& frame) {
  if (peer == nullptr)  // of what a stranger sends nothing is told
    return frame.kind == Kind::kHello && frame.bytes == static_cast<std::int64_t>(sizeof(Hello));
  if (!has_come && !is_answered_) {
    const bool is_refusal =
        frame.kind == Kind::kRefused && frame.bytes >= 0 && frame.bytes <= Incoming::kMost;
    return is_refusal || frame.kind == Kind::kWelcome || refuse(frame, "it is no answer to a greeting");
  }
  if (const std::string_view why = why_wrong(frame); !why.empty()) return refuse(frame, why);
  if (frame.kind != Kind::kData) return true;
  const LinkRendezvous* const rendezvous = fetching(frame);
  if (rendezvous == nullptr) return refuse(frame, "nothing fetches that");
  return frame.bytes <= rendezvous->missing() || refuse(frame, "it is more than is missing");
}

/// To the threads that wait for it whether this process is let in.
void link::Connection::answer_asking(const std::string& refusal) {
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
}

bool link::Connection::take(const Frame& frame, std::span<const std::byte> bytes) {
  switch (frame.kind) {
    case Kind::kHello:
      return channel_.greet(*this, bytes);
    case Kind::kWelcome:
      is_answered_ = true;
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
    default: {
      const std::string_view why = channel_.deliver(peer, frame, bytes);
      return why.empty() || refuse(frame, why);
    }
  }
}

/// What fetches the bytes of a kData frame; null: nothing (any more).
LinkRendezvous* link::Connection::fetching(const Frame& frame) const {
  const std::lock_guard lock(peer->mutex);
  const auto found = peer->fetching.find(frame.rendezvous);
  return found != peer->fetching.end() ? found->second : nullptr;
}

std::span<std::byte> link::Connection::place_for(const Frame& frame) {
  const LinkRendezvous* const rendezvous = fetching(frame);
  return rendezvous != nullptr ? rendezvous->place() : std::span<std::byte>();
}

// What was missing when the frame began may have come over the process's other connection since.
bool link::Connection::take_data(const Frame& frame, std::span<const std::byte> bytes, std::size_t in_place) {
  LinkRendezvous* const rendezvous = fetching(frame);
  if (rendezvous == nullptr || static_cast<Count>(bytes.size()) > rendezvous->missing())
    return refuse(frame, "it is more than is missing");
  rendezvous->take(bytes, in_place);
  return true;
}

bool LinkChannel::greet(Connection& connection, std::span<const std::byte> bytes) {
  Hello hello;
  if (connection.peer != nullptr || bytes.size() != sizeof hello) return false;
  std::memcpy(&hello, bytes.data(), sizeof hello);
  hello.version[sizeof hello.version - 1] = '\0';
  if (hello.mark != Hello::kMark) return false;
  if (const std::string why = why_refused(hello, setup_.job, setup_.checks); !why.empty()) {
    const auto bytes = static_cast<std::int64_t>(why.size());
    write_now(connection.socket(), {.kind = Kind::kRefused, .bytes = bytes}, why);
    return false;
  }
  write_now(connection.socket(), {.kind = Kind::kWelcome});
  PeerRef peer;
  {
    const std::lock_guard lock(mutex_);
    peer = peer_of(hello.job, hello.process, hello.where);
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
    say_here(*peer);
    asking.swap(peer->asking);
  }
  for (Peer::Asking* const one : asking) one->over.signal();
  return true;
}

/// Of a frame that is right by itself. Returns what is wrong with it all the same; empty: nothing.
std::string_view LinkChannel::deliver(const PeerRef& peer, const Frame& frame,
                                      std::span<const std::byte> bytes) {
  const bool is_of_job = (frame.context & ~1u) == setup_.job_context;
  const int source = is_of_job ? place_of_sender(peer, frame.source) : frame.envelope_source;
  const Envelope envelope(frame.context, source, frame.tag);
  Sink* const sink = frame.kind == Kind::kEager || frame.kind == Kind::kRts || frame.kind == Kind::kCancel
                         ? setup_.find_sink(frame.destination)
                         : nullptr;
  switch (frame.kind) {
    case Kind::kEager:
      if (sink == nullptr || source < 0) return {};
      sink->take(envelope, frame.bytes, solid(bytes.data(), bytes.size()), Sink::Bound::kIgnore);
      tell_crowded(*peer, frame.destination, sink->crowded());
      return {};
    case Kind::kRts: {
      if (sink == nullptr || source < 0) {
        post(*peer, PendingFrame::copied({.kind = Kind::kFin, .message = frame.message}, {}, 0));
        return {};
      }
      auto* const incoming = new LinkRendezvous(*this, peer, frame, envelope);
      incoming->sink = sink;
      if (sink->arrive(*incoming)) sink->move(*incoming);
      tell_crowded(*peer, frame.destination, sink->crowded());
      return {};
    }
    case Kind::kCts:
      return stream(*peer, frame);
    case Kind::kFin:
    case Kind::kCancelled:
      return take_back(*peer, frame);
    case Kind::kCancel: {
      const auto* const original = reinterpret_cast<const SendRequest*>(frame.message);
      SendRequest* const kept = sink != nullptr ? sink->retract_remote(envelope, original) : nullptr;
      if (kept != nullptr) static_cast<LinkRendezvous*>(kept)->give_back();
      return {};
    }
    case Kind::kCrowded: {
      const std::lock_guard lock(peer->mutex);
      if (frame.bytes != 0)
        peer->crowded.insert(frame.source);
      else
        peer->crowded.erase(frame.source);
      return {};
    }
    default:
      return {};
  }
}

/// A process asks for a message that was announced to it.
std::string_view LinkChannel::stream(Peer& peer, const Frame& asked) {
  SendRequest* message = nullptr;
  {
    const std::lock_guard lock(peer.mutex);
    const auto found = peer.announced.find(asked.message);
    if (found == peer.announced.end()) return "that message was not announced to it";
    if (found->second.is_asked_for) return "it has asked for it before";
    if (asked.bytes > found->second.bytes) return "the message has less";
    found->second.is_asked_for = true;
    message = found->second.message;
  }
  post(peer, PendingFrame::streamed(*message, asked));
  return {};
}

/// A process does not need a message that was announced to it; or gives it back, as it was asked to.
std::string_view LinkChannel::take_back(Peer& peer, const Frame& frame) {
  {
    const std::lock_guard lock(peer.mutex);
    const auto found = peer.announced.find(frame.message);
    if (found == peer.announced.end()) return "that message was not announced to it";
    if (found->second.is_asked_for) return "it has asked for it";
    if (frame.kind == Kind::kCancelled && !found->second.is_cancelled)
      return "it was not asked to give it back";
  }
  SendRequest* const message = settle(peer, frame.message);
  if (message == nullptr) return {};
  if (frame.kind == Kind::kCancelled)
    message->cancelled();
  else
    message->released();
  return {};
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
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(peer_->mutex);
    number = number_ = peer_->next_number();
    peer_->fetching.emplace(number, this);
  }
  channel_.post(*peer_, PendingFrame::copied({.kind = Kind::kCts,
                                              .bytes = wanted(),
                                              .message = reinterpret_cast<std::uint64_t>(original),
                                              .rendezvous = number},
                                             {}, 0));
}

std::span<std::byte> link::LinkRendezvous::place() const {
  if (!to().type->is_dense()) return {};
  return {static_cast<std::byte*>(to().base) + arrived_, static_cast<std::size_t>(wanted() - arrived_)};
}

void link::LinkRendezvous::take(std::span<const std::byte> bytes, std::size_t in_place) {
  if (in_place == 0) datatype::unpack(to(), arrived_, bytes);
  arrived_ += static_cast<Count>(in_place + bytes.size());
  if (arrived_ < wanted()) return;
  {
    const std::lock_guard lock(peer_->mutex);
    peer_->fetching.erase(number_);
  }
  finish();
}

}  // namespace clump::net
