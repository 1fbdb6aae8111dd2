#include "net/shm/pending_write.h"

#include <algorithm>

namespace clump::net {

namespace {

// So much goes into the lane, or into a staging buffer, at a time: one side copies a piece in while the other
// copies the one before out.
constexpr Count kPiece = 4096, kPieceInBuffer = Segment::kStagingBuffer / 4;

// In one piece up to here; the sender of a longer one should not be waited for.
constexpr Count kLongestStaged = kPieceInBuffer;

}  // namespace

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
  const bool may_stay = kind_ == Kind::kCopied || (kind_ == Kind::kStreamed && !offered_);
  // It may have waited here while others filled the receiver's memory.
  if (may_stay && way.segment.crowded(destination_).load(std::memory_order_relaxed)) kind_ = Kind::kRts;
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
  const Count now = std::min({kPieceInBuffer, bytes_ - done_, Segment::kStagingBuffer - in_staging_});
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

}  // namespace clump::net
