#include "net/ofi/endpoint_context.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "net/joint_work.h"
#include "net/ofi/strangers.h"

namespace clump::net::ofi {

namespace {

// The window: how many bytes of short messages one process may have on their way to another, or waiting
// there. It is smaller if there are many processes. All processes compute the same.
constexpr Count kWindow = 1 << 20, kLeastWindow = 64 * 1024, kWindows = 64 << 20;

Count window_for(std::size_t processes) {
  return std::clamp(kWindows / static_cast<Count>(processes), kLeastWindow, kWindow);
}

}  // namespace

EndpointContext::EndpointContext(const SharedContext& shared, std::size_t index,
                                 std::unique_ptr<Endpoint> endpoint)
    : setup_(shared.setup),
      book_(shared.book),
      index_(index),
      endpoint_(std::move(endpoint)),
      traffic_(shared.traffic),
      timer_(shared.timer),
      token_(shared.token),
      salt_(shared.salt),
      window_(window_for(book_.processes())),
      peers_(book_.processes()) {
  std::vector<std::byte> own;
  if (endpoint_->is_sockets() && endpoint_->name(own).ok())
    watch_.emplace(InternetAddress(own), setup_.connect_timeout);
  if (!watch_) return;
  const int listener = listener_at(InternetAddress(own));
  keep_silent_connections_out(listener);
  expects_greetings_ = setup_.expect_greetings && listener >= 0;
  if (expects_greetings_) setup_.expect_greetings(listener, token_);
}

EndpointContext::~EndpointContext() {
  // The network has this object's memory until the endpoint is closed.
  endpoint_.reset();
}

bool EndpointContext::may_be_short(const Peer& peer, Count bytes) const {
  return bytes <= endpoint_->short_limit() && peer.credit >= bytes + wire::kOverhead;
}

EndpointContext::Peer& EndpointContext::peer(int process) {
  std::unique_ptr<Peer>& peer = peers_[static_cast<std::size_t>(process)];
  if (peer == nullptr) {
    peer = std::make_unique<Peer>();
    peer->credit = window_;
  }
  return *peer;
}

/// False: there is no address yet, or never: then the process is lost.
bool EndpointContext::reach(Peer& peer, int process, Later& later) {
  if (peer.address != FI_ADDR_UNSPEC) [[likely]]
    return true;
  if (peer.lost) return false;
  AddressBook::Entry entry;
  base::Status found = book_.find(process, index_, entry);
  if (found.ok() && entry.name.empty()) {
    lacks_address_.store(true, std::memory_order_relaxed);
    return false;
  }
  if (found.ok()) found = insert(entry, peer.address);
  peer.token = entry.token;
  if (found.ok() && watch_) watch_->add(process, InternetAddress(entry.name));
  if (!found.ok()) lose(peer, process, base::message_of(found.code()), later);
  return found.ok();
}

base::Status EndpointContext::insert(const AddressBook::Entry& entry, fi_addr_t& address) {
  if (entry.expects_greetings && setup_.give_greetings) setup_.give_greetings(entry.name, entry.token);
  return endpoint_->insert(entry.name, address);
}

void EndpointContext::lose(Peer& peer, int process, std::string why, Later& later) {
  if (!peer.lost) later.lost.emplace_back(process, std::move(why));
  peer.lost = true;
}

bool EndpointContext::try_send(Route route, const wire::Address& address, Count bytes,
                               const datatype::Layout& payload) {
  if (bytes > kCopied || !inbox_.empty() || !mutex_.try_lock()) return false;
  Later later;
  const int process = setup_.processes[static_cast<std::size_t>(route.destination)];
  Peer& peer = this->peer(process);
  bool sent = false;
  if (peer.backlog.empty() && may_be_short(peer, bytes) && reach(peer, process, later) && !peer.lost) {
    sent = send_short(peer, process, address, {bytes, payload}, later) && !peer.lost;
    if (sent) peer.credit -= bytes + wire::kOverhead;
  }
  Traffic& traffic = traffic_[static_cast<std::size_t>(route.source)];
  if (sent)
    traffic[Way::kLane].add(bytes);
  else
    traffic.refused.add();
  mutex_.unlock();
  unlocked(later);
  return sent;
}

void EndpointContext::post(const PendingSend& what) {
  if (!mutex_.try_lock()) {
    inbox_.push(what);
    Later none;
    return unlocked(none);
  }
  Later later;
  {
    const Holding holding;
    take_posts(later);
    begin(what, later);
    mutex_.unlock();
  }
  unlocked(later);
}

/// To be called after the lock was released, and after a PendingSend was left without the lock.
void EndpointContext::unlocked(Later& later) {
  later.matched.give_all([](SendRequest& message) { message.sink->move(message); });
  later.released.give_all([](SendRequest& message) { message.released(); });
  later.withdrawn.give_all([](SendRequest& message) { message.cancelled(); });
  later.fetched.give_all([](SendRequest& message) { static_cast<OfiRendezvous&>(message).finish(); });
  for (auto& [process, why] : later.lost) setup_.lost(process, std::move(why));
  // A thread that has left a PendingSend because the lock was taken: either that thread sees that the lock is
  // free, or this thread sees the PendingSend.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!inbox_.empty()) progress(Look::kReal);
}

bool EndpointContext::progress(Look look) {
  if (look == Look::kGlance && inbox_.empty() && !holds_back()) {
    // relaxed, and not exact: a thread may use up a skip of another one.
    const int skip = skip_.load(std::memory_order_relaxed);
    if (skip > 0) return skip_.store(skip - 1, std::memory_order_relaxed), false;
  }
  if (!mutex_.try_lock()) return false;
  Later later;
  bool moved = false;
  {
    const Holding holding;
    if (look != Look::kByThread) looks_.add();
    take_posts(later);
    moved = read_completions(later);
    if (!withheld_.empty()) return_withheld(later);
    if (must_repost_) repost_all(later);
    if (!waiting_.empty()) moved = flush(later) || moved;
    if (!aggregating_.empty()) moved = send_aggregates(later) || moved;
    constexpr int kMostSkips = 8;
    skips_ = moved ? 0 : std::min(skips_ + 1, kMostSkips);
    skip_.store(skips_, std::memory_order_relaxed);
    mutex_.unlock();
  }
  unlocked(later);
  return moved;
}

bool EndpointContext::may_sleep() {
  if (!mutex_.try_lock()) return false;
  Later later;
  bool may = false;
  {
    const Holding holding;
    send_aggregates(later);
    may = inbox_.empty() && aggregating_.empty() && !read_completions(later) && endpoint_->may_sleep();
    skip_.store(0, std::memory_order_relaxed);
    mutex_.unlock();
  }
  unlocked(later);
  return may;
}

void EndpointContext::watch_peers() {
  if (!watch_ || !mutex_.try_lock()) return;
  Later later;
  const PeerWatch::Clock::time_point now = PeerWatch::Clock::now();
  for (const std::vector<int>* processes : {&waiting_, &aggregating_}) {
    for (const int process : *processes) {
      Peer& peer = this->peer(process);
      if (peer.lost) continue;
      if (auto why = watch_->waits(process, peer.next_out, now)) lose(peer, process, std::move(*why), later);
    }
  }
  if (auto silent = watch_->silent_host(now))
    lose(peer(silent->process), silent->process, std::move(silent->why), later);
  mutex_.unlock();
  unlocked(later);
}

// Everything that is sent has a number, except pieces, which are in flight on either side while they are
// under way.
bool EndpointContext::rests(Passed& passed) {
  if (!mutex_.try_lock()) return false;
  const bool rests =
      inbox_.empty() && waiting_.empty() && aggregating_.empty() && in_flight_pools_.all_are_back();
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    passed.sent += peer->next_out;
    passed.taken += peer->next_in;
  }
  mutex_.unlock();
  Later none;
  unlocked(none);
  return rests;
}

bool EndpointContext::retract(const PendingSend& withdraw) {
  Later later;
  bool found = false;
  {
    const Holding holding;
    mutex_.lock();
    take_posts(later);
    found = std::erase_if(peer(withdraw.process).backlog, [&](const PendingSend& post) {
              return post.kind == PendingSend::Kind::kMessage && post.message == withdraw.message;
            }) != 0;
    // A message that is not announced (any more) has left. Its number is sent behind its RTS.
    PendingSend cancel = withdraw;
    cancel.number = found ? 0 : announced_.number_of(*withdraw.message, withdraw.process);
    if (cancel.number != 0) begin(cancel, later);
    mutex_.unlock();
  }
  unlocked(later);
  return found;
}

void EndpointContext::take_posts(Later& later) {
  if (inbox_.empty()) return;
  inbox_.take_all([&](const PendingSend& post) { begin(post, later); });
}

void EndpointContext::begin(const PendingSend& post, Later& later) {
  Peer& peer = this->peer(post.process);
  if (peer.backlog.empty() && start(peer, post, later)) return;
  if (peer.backlog.empty()) waiting_.push_back(post.process);
  peer.backlog.push_back(post);
  if (post.kind == PendingSend::Kind::kFetch) post.rendezvous->waits = true;
}

/// Sends what is in the backlogs; true if it could send anything.
bool EndpointContext::flush(Later& later) {
  bool any = false;
  lacks_address_.store(false, std::memory_order_relaxed);  // unless reach() finds another one
  std::erase_if(waiting_, [&](int process) {
    Peer& peer = this->peer(process);
    while (!peer.backlog.empty()) {
      const PendingSend& post = peer.backlog.front();
      if (post.kind == PendingSend::Kind::kFetch) post.rendezvous->waits = false;
      if (!start(peer, post, later)) {
        if (post.kind == PendingSend::Kind::kFetch) post.rendezvous->waits = true;
        return false;
      }
      peer.backlog.pop_front();
      any = true;
    }
    return true;
  });
  return any;
}

/// Starts a send; false, and nothing has happened, if there is no room, or no address yet. A message for a
/// lost process is dropped: its end ends the job.
bool EndpointContext::start(Peer& peer, const PendingSend& post, Later& later) {
  if (!reach(peer, post.process, later) || peer.lost) return peer.lost;
  if (post.kind != PendingSend::Kind::kMessage && !send_aggregate(peer, post.process, later)) return false;
  switch (post.kind) {
    case PendingSend::Kind::kMessage:
      return start_message(peer, post, later);
    case PendingSend::Kind::kFetch:
      return start_fetch(peer, *post.rendezvous, later);
    case PendingSend::Kind::kPiece:
      return start_piece(peer, post, later);
    case PendingSend::Kind::kFin:
      return send_note(peer, post.process, wire::Kind::kFin, wire::FinBody{post.number}, later);
    case PendingSend::Kind::kCancel:
      return start_cancel(peer, post, later);
    case PendingSend::Kind::kCancelled:
      return send_note(peer, post.process, wire::Kind::kCancelled, wire::FinBody{post.number}, later);
    case PendingSend::Kind::kCredit:
      return start_credit(peer, post.process);
  }
  return true;
}

bool EndpointContext::start_message(Peer& peer, const PendingSend& post, Later& later) {
  SendRequest& message = *post.message;
  const bool is_short = post.may_be_short && !message.synchronous && may_be_short(peer, message.bytes);
  const bool solid = message.bytes == 0 || message.payload.type->is_dense();
  bool gone = false;
  const bool is_copied = is_short && (!solid || message.bytes <= kCopied);
  if (!is_copied && !send_aggregate(peer, post.process, later)) return false;
  if (is_copied) {
    gone = send_short(peer, post.process, post.address, {message.bytes, message.payload}, later);
    if (gone) later.released.push(message);
  } else if (is_short) {
    gone = send_in_place(peer, post, later);
  } else {
    const std::uint64_t number = announced_.add(message, post.process);
    gone = send_note(peer, post.process, wire::Kind::kRts,
                     wire::RtsBody{post.address, number, message.bytes, solid}, later);
    if (!gone) announced_.remove(*announced_.find(number, post.process));
  }
  if (!gone) return false;
  if (is_short) peer.credit -= message.bytes + wire::kOverhead;
  traffic_[static_cast<std::size_t>(post.source)][is_short ? Way::kLane : Way::kReference].add(message.bytes);
  return true;
}

bool EndpointContext::start_fetch(Peer& peer, OfiRendezvous& rendezvous, Later& later) {
  for (;;) {
    if (const wire::CtsBody* const ask = rendezvous.unsent()) {
      if (!send_note(peer, rendezvous.process(), wire::Kind::kCts, *ask, later)) return false;
      rendezvous.sent();
    }
    if (!rendezvous.has_next()) return true;
    const OfiRendezvous::Piece next = rendezvous.next();
    PieceIn& piece = *in_flight_pools_.pieces_in.take();
    piece.process = rendezvous.process();
    piece.rendezvous = &rendezvous;
    piece.offset = next.offset;
    piece.bytes = next.bytes;
    if (next.in_place == nullptr)
      piece.packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(next.bytes));
    const std::uint64_t tag = next_tag();
    const ssize_t result =
        endpoint_->receive_tagged(next.in_place != nullptr ? next.in_place : piece.packed.get(),
                                  static_cast<std::size_t>(next.bytes), tag, piece);
    if (result != 0) {
      in_flight_pools_.pieces_in.put_back(piece);
      if (result == -FI_EAGAIN) return false;
      return lose(peer, rendezvous.process(), endpoint_->why("fi_trecv", result), later), true;
    }
    rendezvous.place(next, tag);
  }
}

bool EndpointContext::start_cancel(Peer& peer, const PendingSend& post, Later& later) {
  Announced* const one = announced_.find(post.number, post.process);
  if (one == nullptr) return true;  // it has left meanwhile
  if (!send_note(peer, post.process, wire::Kind::kCancel, wire::CancelBody{post.address, post.number}, later))
    return false;
  one->is_cancelled = true;
  return true;
}

bool EndpointContext::start_piece(Peer& peer, const PendingSend& post, Later& later) {
  const wire::CtsBody& ask = post.piece;
  // deliver_cts() has looked at it, and the message stays in the table until all its pieces are sent.
  SendRequest& message = *announced_.find(ask.message, post.process)->message;
  const auto bytes = static_cast<std::size_t>(ask.bytes);
  PieceOut& piece = *in_flight_pools_.pieces_out.take();
  piece.process = post.process;
  piece.number = ask.message;
  piece.bytes = ask.bytes;
  const std::byte* data = static_cast<const std::byte*>(message.payload.base) + ask.offset;
  if (!message.payload.type->is_dense()) {
    piece.packed = std::make_unique_for_overwrite<std::byte[]>(bytes);
    if (ask.offset == 0) wake_helpers(message.payload.bytes());
    joint_pack({piece.packed.get(), bytes}, message.payload, ask.offset);
    data = piece.packed.get();
  }
  const ssize_t result = endpoint_->send_tagged(data, bytes, peer.address, ask.tag, piece);
  if (result == 0) return true;
  piece.packed = nullptr;
  in_flight_pools_.pieces_out.put_back(piece);
  if (result == -FI_EAGAIN) return false;
  return lose(peer, post.process, endpoint_->why("fi_tsend", result), later), true;
}

bool EndpointContext::start_credit(Peer& peer, int process) {
  // A process that has ended already does not need the credit, so an error here is no failure.
  Later unheard;
  if (peer.owed > 0 && !send_note(peer, process, wire::Kind::kCredit, wire::NoBody{}, unheard)) return false;
  peer.lost = false;
  peer.crediting = false;
  return true;
}

wire::Header EndpointContext::header(const Peer& peer, wire::Kind kind) const {
  return {peer.token, peer.next_out, static_cast<std::uint32_t>(setup_.process),
          static_cast<std::uint32_t>(peer.owed), kind};
}

/// Evaluates the result of an attempt to send something with a header.
bool EndpointContext::sent(Peer& peer, int process, ssize_t result, Later& later) {
  if (result == 0) [[likely]] {
    ++peer.next_out;
    peer.owed = 0;
    return true;
  }
  if (result == -FI_EAGAIN) return false;
  lose(peer, process, endpoint_->why("fi_send", result), later);
  return true;
}

bool EndpointContext::send_copy(Peer& peer, int process, std::span<const std::byte> head,
                                const Content& content, Later& later) {
  const Count bytes = content.bytes;
  const datatype::Layout& payload = content.payload;
  const std::size_t all = head.size() + static_cast<std::size_t>(bytes);
  const auto fill = [&](std::byte* to) {
    std::memcpy(to, head.data(), head.size());
    if (bytes > 0) datatype::pack({to + head.size(), static_cast<std::size_t>(bytes)}, payload, 0);
  };
  if (may_inject(all)) {
    std::byte together[kLongestInjected];
    fill(together);
    return sent(peer, process, endpoint_->inject(together, all, peer.address), later);
  }
  Copy* const copy = in_flight_pools_.copies.take(kMostCopies);
  if (copy == nullptr) return false;
  copy->process = process;
  fill(copy->data);
  const ssize_t result = endpoint_->send(copy->data, all, peer.address, *copy);
  if (result != 0) in_flight_pools_.copies.put_back(*copy);
  return sent(peer, process, result, later);
}

bool EndpointContext::send_lone(Peer& peer, int process, const wire::Address& address, const Content& content,
                                Later& later) {
  const wire::Note<wire::MessageBody> head{header(peer, wire::Kind::kMessage), {address, content.bytes}};
  return send_copy(peer, process, std::as_bytes(std::span(&head, 1)), content, later);
}

template <typename Body>
bool EndpointContext::send_note(Peer& peer, int process, wire::Kind kind, const Body& body, Later& later) {
  const wire::Note<Body> note{header(peer, kind), body};
  return send_copy(peer, process, std::as_bytes(std::span(&note, 1)), {}, later);
}

bool EndpointContext::send_in_place(Peer& peer, const PendingSend& post, Later& later) {
  InPlace& flight = *in_flight_pools_.in_place.take();
  flight.process = post.process;
  flight.message = post.message;
  flight.head = {header(peer, wire::Kind::kMessage), {post.address, post.message->bytes}};
  const iovec parts[] = {{&flight.head, sizeof flight.head},
                         {post.message->payload.base, static_cast<std::size_t>(post.message->bytes)}};
  const ssize_t result = endpoint_->send(parts, peer.address, flight);
  if (result != 0) in_flight_pools_.in_place.put_back(flight);
  return sent(peer, post.process, result, later);
}

}  // namespace clump::net::ofi
