#include "net/shm/transfer.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "net/shm/remote_memory.h"
#include "net/shm/shm_channel.h"

namespace clump::net {

namespace {

// So much goes into the lane, or into a staging buffer, at a time: one side copies a piece in while the other
// copies the one before out.
constexpr Count kPiece = 4096, kPieceInCrate = Segment::kStagingBuffer / 4;

// In one piece up to here; the sender of a longer one should not be waited for.
constexpr Count kLongestStaged = kPieceInCrate;

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

PendingWrite PendingWrite::copied(int destination, SendRequest& message) {
  return {Kind::kCopied, destination, &message, nullptr, message.bytes};
}

PendingWrite PendingWrite::streamed(int destination, SendRequest& message) {
  return {Kind::kStreamed, destination, &message, nullptr, message.bytes};
}

PendingWrite PendingWrite::rts(int destination, SendRequest& message) {
  return {Kind::kRts, destination, &message, nullptr, message.bytes};
}

PendingWrite PendingWrite::fin(SendRequest* message) {
  return {Kind::kFin, static_cast<int>(Control::kFin), message, nullptr, 0};
}

PendingWrite PendingWrite::cts(const CtsNote& note) {
  PendingWrite post{Kind::kCts, static_cast<int>(Control::kCts), note.message, note.asker, note.bytes};
  post.ticket_ = note.ticket;
  post.into_ = note.into;
  return post;
}

PendingWrite PendingWrite::written(ShmRendezvous* asker, bool complete) {
  PendingWrite post{Kind::kWritten, static_cast<int>(Control::kWritten), nullptr, asker, 0};
  post.complete_ = complete;
  return post;
}

PendingWrite PendingWrite::pieces(SendRequest& message, ShmRendezvous* asker, Count bytes) {
  return {Kind::kPieces, static_cast<int>(Control::kPiece), &message, asker, bytes};
}

PendingWrite PendingWrite::cancel(Envelope envelope, SendRequest* message, int destination) {
  PendingWrite post{Kind::kCancel, destination, message, nullptr, 0};
  post.envelope_ = envelope;
  return post;
}

PendingWrite PendingWrite::cancelled(SendRequest* message) {
  return {Kind::kCancelled, static_cast<int>(Control::kCancelled), message, nullptr, 0};
}

PendingWrite PendingWrite::buffer_credit(std::uint32_t staging_buffer) {
  PendingWrite post{Kind::kBufferCredit, static_cast<int>(Control::kBufferCredit), nullptr, nullptr, 0};
  post.staging_buffer_ = staging_buffer;
  return post;
}

bool TransmitResources::push_staged(int destination, Envelope envelope, Count bytes,
                                    const datatype::Layout& payload) {
  if (bytes > kLongestStaged || !lane.has_room()) return false;
  const std::optional<std::uint32_t> staging_buffer = staging_buffers.take();
  if (!staging_buffer) return false;
  datatype::pack({segment.staging_buffer(*staging_buffer), static_cast<std::size_t>(bytes)}, payload, 0);
  return lane.push_note(static_cast<int>(Control::kStaged), envelope,
                        StagingNote{*staging_buffer, 0, static_cast<std::uint32_t>(bytes), true,
                                    staging_buffers.are_few(), destination});
}

bool PendingWrite::push(TransmitResources way, SendRequest*& released) {
  released = nullptr;
  Lane& lane = way.lane;
  switch (kind_) {
    case Kind::kCopied:
      if (!lane.push(destination_, message_->envelope, bytes_, message_->payload)) return false;
      released = message_;
      return true;
    case Kind::kStreamed:
      offered_ = offered_ || push_rts(lane);
      if (!offered_ || !push_pieces(way)) return false;
      released = message_;
      return true;
    case Kind::kRts:
      return push_rts(lane);
    case Kind::kFin:
      return lane.push_note(destination_, {}, FinNote{message_});
    case Kind::kCts:
      return lane.push_note(destination_, {}, CtsNote{message_, asker_, bytes_, ticket_, into_});
    case Kind::kWritten:
      return lane.push_note(destination_, {}, WrittenNote{asker_, complete_});
    case Kind::kPieces:
      if (!push_pieces(way)) return false;
      released = message_;
      return true;
    case Kind::kCancel:
      return lane.push_note(static_cast<int>(Control::kCancel), envelope_,
                            CancelNote{message_, destination_});
    case Kind::kCancelled:
      return lane.push_note(destination_, {}, CancelledNote{message_});
    case Kind::kBufferCredit:
      return lane.push_note(destination_, {}, BufferCreditNote{*staging_buffer_});
  }
  return true;
}

bool PendingWrite::push_rts(Lane& lane) {
  const datatype::Layout& payload = message_->payload;
  const bool solid = bytes_ > 0 && payload.type->is_dense();
  return lane.push_note(destination_, message_->envelope,
                        RtsNote{message_, solid ? payload.base : nullptr, bytes_, kind_ == Kind::kStreamed});
}

bool PendingWrite::push_pieces(TransmitResources way) {
  while (done_ < bytes_)
    if (!push_piece(way)) return false;
  return true;
}

bool PendingWrite::push_piece(TransmitResources way) {
  constexpr int kTo = static_cast<int>(Control::kPiece);
  if (!way.lane.has_room()) return false;
  if (!staging_buffer_) {
    staging_buffer_ = way.staging_buffers.take();
    in_staging_ = 0;
  }
  if (!staging_buffer_) {
    const Count now = std::min(kPiece, bytes_ - done_);
    if (!way.lane.push(kTo, envelope_of(asker_), now, message_->payload, done_)) return false;
    done_ += now;
    return true;
  }
  const Count now = std::min({kPieceInCrate, bytes_ - done_, Segment::kStagingBuffer - in_staging_});
  datatype::pack({way.segment.staging_buffer(*staging_buffer_) + in_staging_, static_cast<std::size_t>(now)},
                 message_->payload, done_);
  StagingNote note{*staging_buffer_,
                   static_cast<std::uint32_t>(in_staging_),
                   static_cast<std::uint32_t>(now),
                   false,
                   false,
                   0};
  done_ += now;
  in_staging_ += now;
  if (done_ == bytes_ || in_staging_ == Segment::kStagingBuffer) {
    note.is_over = true;
    note.one_is_wanted = way.staging_buffers.are_few();
    staging_buffer_.reset();
  }
  return way.lane.push_note(kTo, envelope_of(asker_), note);
}

bool PendingWrite::is_whole(const SendRequest& message) const {
  const bool is_message = kind_ == Kind::kCopied || kind_ == Kind::kRts || kind_ == Kind::kStreamed;
  return message_ == &message && is_message && !offered_;
}

bool PendingWrite::is_part(const SendRequest& message) const {
  return message_ == &message && (offered_ || kind_ == Kind::kPieces);
}

ShmRendezvous::ShmRendezvous(ShmChannel& channel, int here, int there, Envelope its_envelope,
                             const RtsNote& offer)
    : channel_(channel), here_(here), there_(there), streamed_(offer.streamed), address_(offer.address) {
  envelope = its_envelope;
  bytes = offer.bytes;
  original = offer.message;
  synchronous = true;  // it stays where it is until somebody wants it
  is_remote = true;
}

void ShmRendezvous::released() {
  channel_.post(here_, there_, PendingWrite::fin(original));
  delete this;
}

void ShmRendezvous::give_back() {
  channel_.post(here_, there_, PendingWrite::cancelled(original));
  delete this;
}

void ShmRendezvous::fetch(const datatype::Layout& to, Count wanted) {
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
    channel_.post(here_, there_, PendingWrite::fin(original));
    return finish();
  }
  fetching_ = true;
  if (!solid) return channel_.post(here_, there_, PendingWrite::cts({original, this, wanted, 0, nullptr}));
  // Once it is known to be asked for, another thread that finds no answer may end this.
  ShmChannel& channel = channel_;
  const int here = here_, there = there_;
  CtsNote note{original, this, wanted, 0, nullptr};
  note.ticket = channel.ask(here, *this, ticket_);
  channel.post(here, there, PendingWrite::cts(note));
}

/// Asks for a message, and moves it together with its sender. False: nothing was done.
bool ShmRendezvous::fetch_together() {
  ticket_ = channel_.share(here_);
  if (ticket_ == 0) return false;
  fetching_ = true;
  at_work_ = kReceiver | kSender;
  channel_.post(here_, there_, PendingWrite::cts({original, this, wanted_, ticket_, to_.base}));
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
void ShmRendezvous::end_parts(Side side, bool complete) {
  {
    const std::lock_guard lock(mutex_);
    at_work_ &= ~static_cast<unsigned>(side);
    all_right_ = all_right_ && complete;
    if (at_work_ != 0) return;
  }
  if (!all_right_) {
    channel_.stop_sharing();
    return channel_.post(here_, there_, PendingWrite::cts({original, this, wanted_, 0, nullptr}));
  }
  channel_.post(here_, there_, PendingWrite::fin(original));
  finish();
}

void ShmRendezvous::take_piece(const std::byte* data, Count more) {
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

void ShmRendezvous::keep(const std::byte* data, Count more) {
  if (early_ == nullptr)
    early_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  std::memcpy(early_.get() + arrived_, data, static_cast<std::size_t>(more));
}

bool ShmRendezvous::claim() { return channel_.claim(here_, ticket_); }

void ShmRendezvous::fetch_by_reading() {
  if (channel_.read(there_, address_, wanted_, to_)) {
    channel_.post(here_, there_, PendingWrite::fin(original));
    return finish();
  }
  channel_.post(here_, there_, PendingWrite::cts({original, this, wanted_, 0, nullptr}));
}

void ShmRendezvous::finish() {
  sink->fetched(*this);
  delete this;
}

}  // namespace clump::net
