// Arrivals at an endpoint context, and the completion of its sends.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "net/ofi/endpoint_context.h"
#include "net/ofi/internet.h"

namespace clump::net::ofi {

namespace {

// How many multi-receive buffers the network has: while one is emptied, the next one fills.
constexpr int kMultiReceives = 4;
// The most completions that are taken from the network in one call, and the most such calls in one look.
constexpr std::size_t kAtOnce = 16;
constexpr int kRounds = 4;

datatype::Layout solid(const std::byte* data, Count bytes) {
  static const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  return {const_cast<std::byte*>(data), bytes, byte};
}

std::string text_of(const char* what, const wire::Address& address) {
  return fmt::format("{} of rank {} for rank {}, which is not in this process", what, address.source,
                     address.destination);
}

/// Copies the body of a note; false if the message has another length.
template <typename Body>
bool body_of(std::span<const std::byte> message, Body& body) {
  if (message.size() != sizeof(wire::Header) + sizeof body) return false;
  std::memcpy(&body, message.data() + sizeof(wire::Header), sizeof body);
  return true;
}

}  // namespace

base::Status EndpointContext::begin() {
  for (int i = 0; i < kMultiReceives; ++i) {
    MultiReceive& multi_receive =
        *in_flight_pools_.multi_receives.emplace_back(std::make_unique<MultiReceive>());
    const ssize_t result =
        endpoint_->receive_into(multi_receive.memory.get(), MultiReceive::kBytes, multi_receive);
    if (result != 0) return base::fail(MPI_ERR_OTHER, "{}", endpoint_->why("fi_recvmsg", result));
  }
  return {};
}

/// A number that no other process can guess, different for each piece that this endpoint context expects.
std::uint64_t EndpointContext::next_tag() {
  return (++pieces_ * (salt_ | 1) ^ std::rotl(salt_, 32)) & endpoint_->tag_mask();
}

bool EndpointContext::read_completions(Later& later) {
  bool any = false;
  for (int round = 0; round < kRounds; ++round) {
    fi_cq_data_entry entries[kAtOnce];
    const ssize_t count = endpoint_->read(entries);
    if (count == -FI_EAVAIL) {
      take_error(later);
      any = true;
      continue;
    }
    if (count <= 0) break;
    any = true;
    for (ssize_t i = 0; i < count; ++i) complete(entries[i], later);
    if (count < static_cast<ssize_t>(kAtOnce)) break;
  }
  return any;
}

void EndpointContext::take_error(Later& later) {
  fi_cq_err_entry entry;
  std::string what;
  if (!endpoint_->read_error(entry, what) || entry.op_context == nullptr) return;
  auto& flight = *reinterpret_cast<InFlight*>(entry.op_context);
  if (flight.kind == InFlight::Kind::kMultiReceive) {
    // A message that no process of this job has sent: theirs fit.
    refused_.add();
    auto& multi_receive = static_cast<MultiReceive&>(flight);
    multi_receive.full = multi_receive.full || (entry.flags & FI_MULTI_RECV) != 0;
    multi_receive.has_failed = true;
    return repost(multi_receive, later);
  }
  lose(peer(flight.process), flight.process, std::move(what), later);
}

void EndpointContext::complete(const fi_cq_data_entry& entry, Later& later) {
  auto& flight = *static_cast<InFlight*>(static_cast<Transfer*>(entry.op_context));
  switch (flight.kind) {
    case InFlight::Kind::kMultiReceive: {
      auto& multi_receive = static_cast<MultiReceive&>(flight);
      multi_receive.full = multi_receive.full || (entry.flags & FI_MULTI_RECV) != 0;
      if ((entry.flags & FI_RECV) != 0) {
        const auto* const data = static_cast<const std::byte*>(entry.buf);
        multi_receive.arrived += entry.len;
        multi_receive.end = std::max(multi_receive.end,
                                     static_cast<std::size_t>(data - multi_receive.memory.get()) + entry.len);
        land(multi_receive, data, entry.len, later);
      }
      return repost(multi_receive, later);
    }
    case InFlight::Kind::kCopy:
      return in_flight_pools_.copies.put_back(static_cast<Copy&>(flight));
    case InFlight::Kind::kInPlace: {
      auto& in_place = static_cast<InPlace&>(flight);
      later.released.push(*in_place.message);
      return in_flight_pools_.in_place.put_back(in_place);
    }
    case InFlight::Kind::kPieceOut:
      return piece_sent(static_cast<PieceOut&>(flight), later);
    case InFlight::Kind::kPieceIn:
      return piece_arrived(static_cast<PieceIn&>(flight), entry.len, later);
  }
}

void EndpointContext::piece_sent(PieceOut& piece, Later& later) {
  Announced& one = *announced_.find(piece.number, piece.process);
  one.done += piece.bytes;
  piece.packed = nullptr;
  in_flight_pools_.pieces_out.put_back(piece);
  if (one.done == one.wanted) later.released.push(announced_.remove(one));
}

void EndpointContext::piece_arrived(PieceIn& piece, std::size_t bytes, Later& later) {
  OfiRendezvous& rendezvous = *piece.rendezvous;
  Peer& peer = this->peer(rendezvous.process());
  if (bytes != static_cast<std::size_t>(piece.bytes))
    return lose(peer, rendezvous.process(),
                fmt::format("a piece of {} bytes came with {}", piece.bytes, bytes), later);
  rendezvous.take(piece.offset, piece.bytes, piece.packed.get());
  piece.packed = nullptr;
  in_flight_pools_.pieces_in.put_back(piece);
  if (rendezvous.complete())
    later.fetched.push(rendezvous);
  else if (rendezvous.has_next() && !rendezvous.waits)
    begin({.kind = PendingSend::Kind::kFetch, .process = rendezvous.process(), .rendezvous = &rendezvous},
          later);
}

void EndpointContext::land(MultiReceive& multi_receive, const std::byte* data, std::size_t bytes,
                           Later& later) {
  wire::Header header;
  if (bytes < sizeof header) return refused_.add();
  std::memcpy(&header, data, sizeof header);
  if (header.token != token_ || header.process >= peers_.size()) return refused_.add();
  const auto process = static_cast<int>(header.process);
  Peer& peer = this->peer(process);
  if (header.sequence != peer.next_in) {
    if (static_cast<std::int32_t>(header.sequence - peer.next_in) < 0)
      return wrong(peer, process, fmt::format("one with the number {} again", header.sequence), later);
    if (!peer.early.try_emplace(header.sequence, Peer::Early{data, bytes, &multi_receive}).second)
      return refused_.add();
    ++multi_receive.kept;
    return;
  }
  ++peer.next_in;
  deliver(peer, process, {data, bytes}, later);
  while (!peer.early.empty()) {
    const auto next = peer.early.find(peer.next_in);
    if (next == peer.early.end()) break;
    const Peer::Early early = next->second;
    peer.early.erase(next);
    ++peer.next_in;
    deliver(peer, process, {early.data, early.bytes}, later);
    --early.multi_receive->kept;
    repost(*early.multi_receive, later);
  }
}

/// Gives a multi-receive buffer back to the network when it is full and all its messages were delivered.
void EndpointContext::repost(MultiReceive& multi_receive, Later& later) {
  if (!multi_receive.full || multi_receive.kept > 0) return;
  if (endpoint_->says_full_early() && multi_receive.has_gap()) return;
  const ssize_t result =
      endpoint_->receive_into(multi_receive.memory.get(), MultiReceive::kBytes, multi_receive);
  multi_receive.full = result != 0;
  if (result == 0) {
    multi_receive.arrived = multi_receive.end = 0;
    multi_receive.has_failed = false;
  }
  must_repost_ = must_repost_ || result == -FI_EAGAIN;
  if (result != 0 && result != -FI_EAGAIN)
    later.lost.emplace_back(setup_.process, endpoint_->why("fi_recvmsg", result));
}

void EndpointContext::repost_all(Later& later) {
  must_repost_ = false;
  for (const auto& multi_receive : in_flight_pools_.multi_receives) repost(*multi_receive, later);
}

void EndpointContext::deliver(Peer& peer, int process, std::span<const std::byte> message, Later& later) {
  wire::Header header;
  std::memcpy(&header, message.data(), sizeof header);
  peer.credit += header.credit;
  if (peer.credit > window_) [[unlikely]]
    return wrong(peer, process,
                 fmt::format("one that gives back {} bytes of credit too many", peer.credit - window_),
                 later);
  wire::RtsBody offer;
  wire::CtsBody ask;
  wire::FinBody taken;
  wire::CancelBody withdraw;
  switch (header.kind) {
    case wire::Kind::kMessage:
      return deliver_messages(peer, process, message.subspan(sizeof header), later);
    case wire::Kind::kRts:
      if (body_of(message, offer)) return deliver_rts(process, offer, later);
      break;
    case wire::Kind::kCts:
      if (body_of(message, ask)) return deliver_cts(peer, process, ask, later);
      break;
    case wire::Kind::kFin:
      if (body_of(message, taken)) return deliver_end(peer, process, taken, false, later);
      break;
    case wire::Kind::kCancel:
      if (body_of(message, withdraw)) return give_back(withdraw);
      break;
    case wire::Kind::kCancelled:
      if (body_of(message, taken)) return deliver_end(peer, process, taken, true, later);
      break;
    case wire::Kind::kCredit:
      if (message.size() == sizeof(wire::Note<wire::NoBody>)) return;
      break;
  }
  wrong(peer, process,
        fmt::format("one of kind {} with {} bytes", static_cast<std::uint32_t>(header.kind), message.size()),
        later);
}

/// Gives up a process that has sent a frame which no process of this version of Clump sends.
[[gnu::cold, gnu::noinline]] void EndpointContext::wrong(Peer& peer, int process, const std::string& what,
                                                         Later& later) {
  AddressBook::Entry entry;
  const bool is_known = book_.find(process, index_, entry).ok();
  const InternetAddress address = is_known ? InternetAddress(entry.name) : InternetAddress();
  lose(peer, process,
       fmt::format(
           "a wrong frame has come from {}: {}. Its memory is damaged, another version of Clump runs there, "
           "or another program has sent the frame in its name",
           address.valid() ? address.text() : "its address", what),
       later);
}

/// Delivers the short message or the aggregated messages of a transfer.
void EndpointContext::deliver_messages(Peer& peer, int process, std::span<const std::byte> rest,
                                       Later& later) {
  for (;;) {
    wire::MessageBody body;
    if (rest.size() < sizeof body) break;
    std::memcpy(&body, rest.data(), sizeof body);
    rest = rest.subspan(sizeof body);
    const auto bytes = static_cast<std::size_t>(body.bytes);
    if (bytes > rest.size())
      return wrong(peer, process, fmt::format("a message of {} bytes in {} bytes", body.bytes, rest.size()),
                   later);
    if (!deliver_message(peer, process, body.address, rest.first(bytes), later))
      return wrong(peer, process, text_of("a message", body.address), later);
    rest = rest.subspan(bytes);
    if (rest.empty()) return;
  }
  wrong(peer, process, fmt::format("{} bytes where a message was to begin", rest.size()), later);
}

/// Delivers a short message. False: there are no such ranks.
bool EndpointContext::deliver_message(Peer& peer, int process, const wire::Address& address,
                                      std::span<const std::byte> data, Later& later) {
  Sink* const sink = this->sink(address.destination);
  if (sink == nullptr || address.source < 0) return false;
  const auto bytes = static_cast<Count>(data.size());
  sink->take(address.envelope(), bytes, solid(data.data(), bytes), Sink::Bound::kIgnore);
  if (sink->crowded())
    withheld_[{address.destination, process}] += bytes + wire::kOverhead;
  else
    owe(peer, process, bytes + wire::kOverhead, later);
  return true;
}

void EndpointContext::deliver_rts(int process, const wire::RtsBody& offer, Later& later) {
  Sink* const sink = this->sink(offer.address.destination);
  if (sink == nullptr || offer.address.source < 0)
    return wrong(peer(process), process, text_of("the offer of a message", offer.address), later);
  if (offer.bytes < 0 || !AnnouncedMessages::is_number(offer.message))
    return wrong(peer(process), process,
                 fmt::format("the offer of message {} with {} bytes", offer.message, offer.bytes), later);
  auto* const rendezvous = new OfiRendezvous(*this, process, offer);
  rendezvous->sink = sink;
  if (sink->arrive(*rendezvous)) later.matched.push(*rendezvous);
}

/// A process asks for a piece of a message that was announced to it. It asks for pieces in their order.
void EndpointContext::deliver_cts(Peer& peer, int process, const wire::CtsBody& ask, Later& later) {
  Announced* const one = announced_.find(ask.message, process);
  const auto is_next = [&] {
    const Count wanted = one->is_asked_for() ? one->wanted : ask.wanted;
    return ask.wanted == wanted && wanted <= one->message->bytes && ask.offset == one->asked &&
           ask.bytes > 0 && ask.bytes <= wanted - ask.offset;
  };
  if (one == nullptr || !is_next())
    return wrong(
        peer, process,
        fmt::format("one that asks for {} bytes at {}, of {}, of message {}{}", ask.bytes, ask.offset,
                    ask.wanted, ask.message, one == nullptr ? ", which it was not offered" : ""),
        later);
  one->wanted = ask.wanted;
  one->asked += ask.bytes;
  begin({.kind = PendingSend::Kind::kPiece, .process = process, .piece = ask}, later);
}

/// A process does not need a message that was announced to it; or gives it back, as it was asked to.
void EndpointContext::deliver_end(Peer& peer, int process, const wire::FinBody& end, bool is_cancelled,
                                  Later& later) {
  Announced* const one = announced_.find(end.message, process);
  if (one == nullptr || one->is_asked_for() || (is_cancelled && !one->is_cancelled))
    return wrong(
        peer, process,
        fmt::format("one that {} message {}, which {}", is_cancelled ? "gives back" : "ends", end.message,
                    one == nullptr        ? "it was not offered"
                    : one->is_asked_for() ? "it is being sent"
                                          : "it was not asked to give back"),
        later);
  (is_cancelled ? later.withdrawn : later.released).push(announced_.remove(*one));
}

void EndpointContext::give_back(const wire::CancelBody& withdraw) {
  Sink* const sink = this->sink(withdraw.address.destination);
  if (sink == nullptr || !AnnouncedMessages::is_number(withdraw.message)) return;
  SendRequest* const kept = sink->retract_remote(withdraw.address.envelope(),
                                                 reinterpret_cast<const SendRequest*>(withdraw.message));
  if (kept != nullptr) static_cast<OfiRendezvous*>(kept)->give_back();
}

/// Adds to the credit of a process: there is room again for `bytes` bytes that it sends.
void EndpointContext::owe(Peer& peer, int process, Count bytes, Later& later) {
  peer.owed += bytes;
  if (peer.owed < window_ / 2 || peer.crediting) return;
  peer.crediting = true;
  begin({.kind = PendingSend::Kind::kCredit, .process = process}, later);
}

void EndpointContext::return_withheld(Later& later) {
  std::erase_if(withheld_, [&](const auto& entry) {
    const auto& [whose, bytes] = entry;
    if (sink(whose.first)->crowded()) return false;
    owe(peer(whose.second), whose.second, bytes, later);
    return true;
  });
}

}  // namespace clump::net::ofi
