#include "net/shm/transfer.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "net/shm/remote_memory.h"
#include "net/shm/shm_channel.h"

namespace clump::net {

namespace {

// So much goes into the lane, or into a crate, at a time: one side copies a piece in while the other copies
// the one before out.
constexpr Count kPiece = 4096, kPieceInCrate = Segment::kCrate / 4;

// In one piece up to here; the sender of a longer one should not be waited for.
constexpr Count kLongestParcel = kPieceInCrate;

// Both sides of a large message move so much at a time: not less, because the kernel takes a microsecond to
// begin, and in so many parts, to end at about the same time.
constexpr Count kLeastPart = 32 * 1024;
constexpr Count kParts = 8;
constexpr Count kPage = 4096;

}  // namespace

Division::Division(Count bytes) : bytes(bytes) {
  const Count least = std::min(kLeastPart, bytes / 2);  // so there are always two
  part = (std::max(least, bytes / kParts) + kPage - 1) / kPage * kPage;
  parts = static_cast<std::uint32_t>((bytes + part - 1) / part);
}

Post Post::copied(int destination, Outgoing& message) {
  return {Kind::kCopied, destination, &message, nullptr, message.bytes};
}

Post Post::streamed(int destination, Outgoing& message) {
  return {Kind::kStreamed, destination, &message, nullptr, message.bytes};
}

Post Post::offer(int destination, Outgoing& message) {
  return {Kind::kOffer, destination, &message, nullptr, message.bytes};
}

Post Post::taken(Outgoing* message) {
  return {Kind::kTaken, static_cast<int>(Control::kTaken), message, nullptr, 0};
}

Post Post::ask(const AskNote& note) {
  Post post{Kind::kAsk, static_cast<int>(Control::kAsk), note.message, note.asker, note.bytes};
  post.ticket_ = note.ticket;
  post.into_ = note.into;
  return post;
}

Post Post::written(Remote* asker, bool complete) {
  Post post{Kind::kWritten, static_cast<int>(Control::kWritten), nullptr, asker, 0};
  post.complete_ = complete;
  return post;
}

Post Post::pieces(Outgoing& message, Remote* asker, Count bytes) {
  return {Kind::kPieces, static_cast<int>(Control::kPiece), &message, asker, bytes};
}

Post Post::withdraw(Envelope envelope, Outgoing* message, int destination) {
  Post post{Kind::kWithdraw, destination, message, nullptr, 0};
  post.envelope_ = envelope;
  return post;
}

Post Post::withdrawn(Outgoing* message) {
  return {Kind::kWithdrawn, static_cast<int>(Control::kWithdrawn), message, nullptr, 0};
}

Post Post::empty(std::uint32_t crate) {
  Post post{Kind::kEmpty, static_cast<int>(Control::kEmpty), nullptr, nullptr, 0};
  post.crate_ = crate;
  return post;
}

bool Outway::push_parcel(int destination, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  if (bytes > kLongestParcel || !lane.has_room()) return false;
  const std::optional<std::uint32_t> crate = crates.take();
  if (!crate) return false;
  datatype::pack({segment.crate(*crate), static_cast<std::size_t>(bytes)}, payload, 0);
  return lane.push_note(
      static_cast<int>(Control::kParcel), envelope,
      CrateNote{*crate, 0, static_cast<std::uint32_t>(bytes), true, crates.are_few(), destination});
}

bool Post::push(Outway way, Outgoing*& released) {
  released = nullptr;
  Lane& lane = way.lane;
  switch (kind_) {
    case Kind::kCopied:
      if (!lane.push(destination_, message_->envelope, bytes_, message_->payload)) return false;
      released = message_;
      return true;
    case Kind::kStreamed:
      offered_ = offered_ || push_offer(lane);
      if (!offered_ || !push_pieces(way)) return false;
      released = message_;
      return true;
    case Kind::kOffer:
      return push_offer(lane);
    case Kind::kTaken:
      return lane.push_note(destination_, {}, TakenNote{message_});
    case Kind::kAsk:
      return lane.push_note(destination_, {}, AskNote{message_, asker_, bytes_, ticket_, into_});
    case Kind::kWritten:
      return lane.push_note(destination_, {}, WrittenNote{asker_, complete_});
    case Kind::kPieces:
      if (!push_pieces(way)) return false;
      released = message_;
      return true;
    case Kind::kWithdraw:
      return lane.push_note(static_cast<int>(Control::kWithdraw), envelope_,
                            WithdrawNote{message_, destination_});
    case Kind::kWithdrawn:
      return lane.push_note(destination_, {}, WithdrawnNote{message_});
    case Kind::kEmpty:
      return lane.push_note(destination_, {}, EmptyNote{*crate_});
  }
  return true;
}

bool Post::push_offer(Lane& lane) {
  const datatype::Layout& payload = message_->payload;
  const bool solid = bytes_ > 0 && payload.type->is_dense();
  return lane.push_note(
      destination_, message_->envelope,
      OfferNote{message_, solid ? payload.base : nullptr, bytes_, kind_ == Kind::kStreamed});
}

bool Post::push_pieces(Outway way) {
  while (done_ < bytes_)
    if (!push_piece(way)) return false;
  return true;
}

bool Post::push_piece(Outway way) {
  constexpr int kTo = static_cast<int>(Control::kPiece);
  if (!way.lane.has_room()) return false;
  if (!crate_) {
    crate_ = way.crates.take();
    in_crate_ = 0;
  }
  if (!crate_) {
    const Count now = std::min(kPiece, bytes_ - done_);
    if (!way.lane.push(kTo, envelope_of(asker_), now, message_->payload, done_)) return false;
    done_ += now;
    return true;
  }
  const Count now = std::min({kPieceInCrate, bytes_ - done_, Segment::kCrate - in_crate_});
  datatype::pack({way.segment.crate(*crate_) + in_crate_, static_cast<std::size_t>(now)}, message_->payload,
                 done_);
  CrateNote note{
      *crate_, static_cast<std::uint32_t>(in_crate_), static_cast<std::uint32_t>(now), false, false, 0};
  done_ += now;
  in_crate_ += now;
  if (done_ == bytes_ || in_crate_ == Segment::kCrate) {
    note.is_over = true;
    note.one_is_wanted = way.crates.are_few();
    crate_.reset();
  }
  return way.lane.push_note(kTo, envelope_of(asker_), note);
}

bool Post::is_whole(const Outgoing& message) const {
  const bool is_message = kind_ == Kind::kCopied || kind_ == Kind::kOffer || kind_ == Kind::kStreamed;
  return message_ == &message && is_message && !offered_;
}

bool Post::is_part(const Outgoing& message) const {
  return message_ == &message && (offered_ || kind_ == Kind::kPieces);
}

Remote::Remote(ShmChannel& channel, int here, int there, Envelope its_envelope, const OfferNote& offer)
    : channel_(channel), here_(here), there_(there), streamed_(offer.streamed), address_(offer.address) {
  envelope = its_envelope;
  bytes = offer.bytes;
  original = offer.message;
  synchronous = true;  // it stays where it is until somebody wants it
  is_remote = true;
}

void Remote::released() {
  channel_.post(here_, there_, Post::taken(original));
  delete this;
}

void Remote::give_back() {
  channel_.post(here_, there_, Post::withdrawn(original));
  delete this;
}

void Remote::fetch(const datatype::Layout& to, Count wanted) {
  if (streamed_) {
    std::unique_lock lock(mutex_);
    fetching_ = true;
    to_ = to;
    wanted_ = wanted;
    const Count here = std::min(arrived_, wanted);
    if (here > 0) datatype::unpack(to, 0, {early_.get(), static_cast<std::size_t>(here)});
    if (arrived_ < bytes) return;
    lock.unlock();
    return finish();
  }
  const bool solid = address_ != nullptr;
  to_ = to;
  wanted_ = wanted;
  if (solid && to.type->is_dense() && wanted >= Division::kFrom && channel_.shares() && fetch_together())
    return;
  if (wanted == 0 || (solid && channel_.reads(wanted) && channel_.read(there_, address_, wanted, to))) {
    channel_.post(here_, there_, Post::taken(original));
    return finish();
  }
  fetching_ = true;
  if (!solid) return channel_.post(here_, there_, Post::ask({original, this, wanted, 0, nullptr}));
  // Once it is known to be asked for, another thread that finds no answer may end this.
  ShmChannel& channel = channel_;
  const int here = here_, there = there_;
  AskNote note{original, this, wanted, 0, nullptr};
  note.ticket = channel.ask(here, *this, ticket_);
  channel.post(here, there, Post::ask(note));
}

/// Asks for a message, and moves it together with its sender. False: nothing was done.
bool Remote::fetch_together() {
  ticket_ = channel_.share(here_);
  if (ticket_ == 0) return false;
  fetching_ = true;
  at_work_ = kReceiver | kSender;
  channel_.post(here_, there_, Post::ask({original, this, wanted_, ticket_, to_.base}));
  const bool complete = channel_.read_parts(here_, there_, ticket_, {address_, wanted_, to_.base});
  // All parts were claimed, so this is how many the sender has.
  const bool alone = channel_.parts_of_sender(here_, there_, ticket_) == 0;
  channel_.end_sharing(here_, ticket_);
  ticket_ = 0;
  if (alone) end_parts(kSender, true);
  end_parts(kReceiver, complete);
  return true;
}

/// By whoever comes last the message is finished; in pieces, if it could not be done.
void Remote::end_parts(Side side, bool complete) {
  {
    const std::lock_guard lock(mutex_);
    at_work_ &= ~static_cast<unsigned>(side);
    all_right_ = all_right_ && complete;
    if (at_work_ != 0) return;
  }
  if (!all_right_) {
    channel_.stop_sharing();
    return channel_.post(here_, there_, Post::ask({original, this, wanted_, 0, nullptr}));
  }
  channel_.post(here_, there_, Post::taken(original));
  finish();
}

void Remote::take_piece(const std::byte* data, Count more) {
  std::unique_lock lock(mutex_);
  if (arrived_ == 0 && ticket_ != 0) channel_.is_answered(here_, *this);
  if (!fetching_)
    keep(data, more);
  else if (const Count room = std::min(more, wanted_ - arrived_); room > 0)
    datatype::unpack(to_, arrived_, {data, static_cast<std::size_t>(room)});
  arrived_ += more;
  const bool complete = fetching_ && arrived_ == (streamed_ ? bytes : wanted_);
  lock.unlock();
  if (complete) finish();
}

void Remote::keep(const std::byte* data, Count more) {
  if (early_ == nullptr)
    early_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  std::memcpy(early_.get() + arrived_, data, static_cast<std::size_t>(more));
}

bool Remote::claim() { return channel_.claim(here_, ticket_); }

void Remote::fetch_by_reading() {
  if (channel_.read(there_, address_, wanted_, to_)) {
    channel_.post(here_, there_, Post::taken(original));
    return finish();
  }
  channel_.post(here_, there_, Post::ask({original, this, wanted_, 0, nullptr}));
}

void Remote::finish() {
  sink->fetched(*this);
  delete this;
}

}  // namespace clump::net
