// What comes in at a gate, and what has gone out.
#include <algorithm>
#include <bit>
#include <cstring>

#include "net/ofi/gate.h"

namespace clump::net::ofi {

namespace {

// Landings with the network at a time: while one is emptied the next one fills.
constexpr int kLandings = 4;
// Completions that are taken from the network at once, and in one look.
constexpr std::size_t kAtOnce = 16;
constexpr int kRounds = 4;

datatype::Layout solid(const std::byte* data, Count bytes) {
  static const datatype::Datatype* const byte = datatype::predefined(MPI_BYTE);
  return {const_cast<std::byte*>(data), bytes, byte};
}

/// The body of a note; false if there is none.
template <typename Body>
bool body_of(std::span<const std::byte> message, Body& body) {
  if (message.size() < sizeof(wire::Header) + sizeof body) return false;
  std::memcpy(&body, message.data() + sizeof(wire::Header), sizeof body);
  return true;
}

}  // namespace

base::Status Gate::begin() {
  for (int i = 0; i < kLandings; ++i) {
    Landing& landing = *flights_.landings.emplace_back(std::make_unique<Landing>());
    const ssize_t result = endpoint_->receive_into(landing.memory.get(), Landing::kBytes, landing);
    if (result != 0) return base::fail(MPI_ERR_OTHER, "{}", endpoint_->why("fi_recvmsg", result));
  }
  return {};
}

/// A number that nobody can guess, different for each piece that this gate expects.
std::uint64_t Gate::next_tag() {
  return (++pieces_ * (salt_ | 1) ^ std::rotl(salt_, 32)) & endpoint_->tag_mask();
}

bool Gate::read_completions(Later& later) {
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

void Gate::take_error(Later& later) {
  fi_cq_err_entry entry;
  std::string what;
  if (!endpoint_->read_error(entry, what) || entry.op_context == nullptr) return;
  auto& flight = *reinterpret_cast<Flight*>(entry.op_context);
  if (flight.kind == Flight::Kind::kLanding) {
    // Something that nobody of this job has sent: ours fit.
    refused_.add();
    auto& landing = static_cast<Landing&>(flight);
    landing.full = landing.full || (entry.flags & FI_MULTI_RECV) != 0;
    landing.has_failed = true;
    return repost(landing, later);
  }
  lose(peer(flight.process), flight.process, std::move(what), later);
}

void Gate::complete(const fi_cq_data_entry& entry, Later& later) {
  auto& flight = *static_cast<Flight*>(static_cast<Transfer*>(entry.op_context));
  switch (flight.kind) {
    case Flight::Kind::kLanding: {
      auto& landing = static_cast<Landing&>(flight);
      landing.full = landing.full || (entry.flags & FI_MULTI_RECV) != 0;
      if ((entry.flags & FI_RECV) != 0) {
        const auto* const data = static_cast<const std::byte*>(entry.buf);
        landing.arrived += entry.len;
        landing.end =
            std::max(landing.end, static_cast<std::size_t>(data - landing.memory.get()) + entry.len);
        land(landing, data, entry.len, later);
      }
      return repost(landing, later);
    }
    case Flight::Kind::kCopy:
      return flights_.copies.put_back(static_cast<Copy&>(flight));
    case Flight::Kind::kInPlace: {
      auto& in_place = static_cast<InPlace&>(flight);
      later.released.push(*in_place.message);
      return flights_.in_place.put_back(in_place);
    }
    case Flight::Kind::kPieceOut:
      return piece_sent(static_cast<PieceOut&>(flight), later);
    case Flight::Kind::kPieceIn:
      return piece_arrived(static_cast<PieceIn&>(flight), entry.len, later);
  }
}

void Gate::piece_sent(PieceOut& piece, Later& later) {
  Outgoing& message = *piece.message;
  const Count bytes = piece.bytes, wanted = piece.wanted;
  piece.packed = nullptr;
  flights_.pieces_out.put_back(piece);
  if (bytes < wanted) {
    Count& done = partly_sent_[&message];
    if ((done += bytes) < wanted) return;
    partly_sent_.erase(&message);
  }
  later.released.push(message);
}

void Gate::piece_arrived(PieceIn& piece, std::size_t bytes, Later& later) {
  Offered& offered = *piece.offered;
  Peer& peer = this->peer(offered.process());
  if (bytes != static_cast<std::size_t>(piece.bytes))
    return lose(peer, offered.process(), fmt::format("a piece of {} bytes came with {}", piece.bytes, bytes),
                later);
  offered.take(piece.offset, piece.bytes, piece.packed.get());
  piece.packed = nullptr;
  flights_.pieces_in.put_back(piece);
  if (offered.complete())
    later.fetched.push(offered);
  else if (offered.has_next() && !offered.waits)
    begin({.kind = Post::Kind::kFetch, .process = offered.process(), .offered = &offered}, later);
}

void Gate::land(Landing& landing, const std::byte* data, std::size_t bytes, Later& later) {
  wire::Header header;
  if (bytes < sizeof header) return refused_.add();
  std::memcpy(&header, data, sizeof header);
  if (header.token != token_ || header.process >= peers_.size()) return refused_.add();
  const auto process = static_cast<int>(header.process);
  Peer& peer = this->peer(process);
  if (header.sequence != peer.next_in) {
    if (!peer.early.try_emplace(header.sequence, Peer::Early{data, bytes, &landing}).second)
      return refused_.add();
    ++landing.kept;
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
    --early.landing->kept;
    repost(*early.landing, later);
  }
}

/// Gives a landing back to the network once nothing is left in it.
void Gate::repost(Landing& landing, Later& later) {
  if (!landing.full || landing.kept > 0) return;
  if (endpoint_->says_full_early() && landing.has_gap()) return;
  const ssize_t result = endpoint_->receive_into(landing.memory.get(), Landing::kBytes, landing);
  landing.full = result != 0;
  if (result == 0) {
    landing.arrived = landing.end = 0;
    landing.has_failed = false;
  }
  must_repost_ = must_repost_ || result == -FI_EAGAIN;
  if (result != 0 && result != -FI_EAGAIN)
    later.lost.emplace_back(setup_.process, endpoint_->why("fi_recvmsg", result));
}

void Gate::repost_all(Later& later) {
  must_repost_ = false;
  for (const auto& landing : flights_.landings) repost(*landing, later);
}

void Gate::deliver(Peer& peer, int process, std::span<const std::byte> message, Later& later) {
  wire::Header header;
  std::memcpy(&header, message.data(), sizeof header);
  peer.credit += header.credit;
  wire::OfferBody offer;
  wire::AskBody ask;
  wire::TakenBody taken;
  wire::WithdrawBody withdraw;
  switch (header.kind) {
    case wire::Kind::kMessage:
      return deliver_messages(peer, process, message.subspan(sizeof header), later);
    case wire::Kind::kOffer:
      if (body_of(message, offer)) return deliver_offer(process, offer, later);
      break;
    case wire::Kind::kAsk:
      if (!body_of(message, ask)) break;
      return begin({.kind = Post::Kind::kPiece, .process = process, .piece = ask}, later);
    case wire::Kind::kTaken:
      if (body_of(message, taken)) return later.released.push(*taken.message);
      break;
    case wire::Kind::kWithdraw:
      if (body_of(message, withdraw)) return give_back(process, withdraw, later);
      break;
    case wire::Kind::kWithdrawn:
      if (body_of(message, taken)) return later.withdrawn.push(*taken.message);
      break;
    case wire::Kind::kCredit:
      return;
  }
  lose(peer, process, "it has sent what this version of Clump does not know", later);
}

/// One or several.
void Gate::deliver_messages(Peer& peer, int process, std::span<const std::byte> rest, Later& later) {
  for (;;) {
    wire::MessageBody body;
    if (rest.size() < sizeof body) break;
    std::memcpy(&body, rest.data(), sizeof body);
    rest = rest.subspan(sizeof body);
    const auto bytes = static_cast<std::size_t>(body.bytes);
    if (bytes > rest.size() || !deliver_message(peer, process, body.address, rest.first(bytes), later)) break;
    rest = rest.subspan(bytes);
    if (rest.empty()) return;
  }
  lose(peer, process, "it has sent a message for a rank that is not here", later);
}

/// False: there is no such rank.
bool Gate::deliver_message(Peer& peer, int process, const wire::Address& address,
                           std::span<const std::byte> data, Later& later) {
  Sink* const sink = this->sink(address.destination);
  if (sink == nullptr) return false;
  const auto bytes = static_cast<Count>(data.size());
  sink->take(address.envelope(), bytes, solid(data.data(), bytes), Sink::Bound::kIgnore);
  if (sink->crowded())
    withheld_[{address.destination, process}] += bytes + wire::kOverhead;
  else
    owe(peer, process, bytes + wire::kOverhead, later);
  return true;
}

void Gate::deliver_offer(int process, const wire::OfferBody& offer, Later& later) {
  Sink* const sink = this->sink(offer.address.destination);
  if (sink == nullptr)
    return lose(peer(process), process, "it has offered a message for a rank that is not here", later);
  auto* const offered = new Offered(*this, process, offer);
  offered->sink = sink;
  if (sink->arrive(*offered)) later.matched.push(*offered);
}

void Gate::give_back(int process, const wire::WithdrawBody& withdraw, Later& later) {
  Sink* const sink = this->sink(withdraw.address.destination);
  if (sink == nullptr) return;
  Outgoing* const kept = sink->retract_remote(withdraw.address.envelope(), withdraw.message);
  if (kept == nullptr) return;
  delete static_cast<Offered*>(kept);
  begin({.kind = Post::Kind::kWithdrawn, .process = process, .message = withdraw.message}, later);
}

/// Room for so much is there again for what a process sends.
void Gate::owe(Peer& peer, int process, Count bytes, Later& later) {
  peer.owed += bytes;
  if (peer.owed < window_ / 2 || peer.crediting) return;
  peer.crediting = true;
  begin({.kind = Post::Kind::kCredit, .process = process}, later);
}

void Gate::return_withheld(Later& later) {
  std::erase_if(withheld_, [&](const auto& entry) {
    const auto& [whose, bytes] = entry;
    if (sink(whose.first)->crowded()) return false;
    owe(peer(whose.second), whose.second, bytes, later);
    return true;
  });
}

}  // namespace clump::net::ofi
