#include "net/shm/transfer.h"

#include <algorithm>

#include "net/shm/remote_memory.h"
#include "net/shm/shm_channel.h"

namespace clump::net {

Post Post::message(int destination, Outgoing& message, bool copied) {
  return {copied ? Kind::kCopied : Kind::kOffer, destination, &message, nullptr, message.bytes};
}

Post Post::taken(Outgoing* message) {
  return {Kind::kTaken, static_cast<int>(Control::kTaken), message, nullptr, 0};
}

Post Post::ask(Outgoing* message, Remote* asker, Count bytes) {
  return {Kind::kAsk, static_cast<int>(Control::kAsk), message, asker, bytes};
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

bool Post::push(Lane& lane, Count longest, Outgoing*& released) {
  released = nullptr;
  switch (kind_) {
    case Kind::kCopied:
      if (!lane.push(destination_, message_->envelope, bytes_, message_->payload)) return false;
      released = message_;
      return true;
    case Kind::kOffer: {
      const datatype::Layout& payload = message_->payload;
      const bool solid = bytes_ > 0 && payload.type->is_dense();
      return lane.push_note(destination_, message_->envelope,
                            OfferNote{message_, solid ? payload.base : nullptr, bytes_});
    }
    case Kind::kTaken:
      return lane.push_note(destination_, {}, TakenNote{message_});
    case Kind::kAsk:
      return lane.push_note(destination_, {}, AskNote{message_, asker_, bytes_});
    case Kind::kPieces:
      if (!push_pieces(lane, longest)) return false;
      released = message_;
      return true;
    case Kind::kWithdraw:
      return lane.push_note(static_cast<int>(Control::kWithdraw), envelope_,
                            WithdrawNote{message_, destination_});
    case Kind::kWithdrawn:
      return lane.push_note(destination_, {}, WithdrawnNote{message_});
  }
  return true;
}

bool Post::push_pieces(Lane& lane, Count longest) {
  while (done_ < bytes_) {
    const Count now = std::min(longest, bytes_ - done_);
    if (!lane.push(destination_, envelope_of(asker_), now, message_->payload, done_)) return false;
    done_ += now;
  }
  return true;
}

bool Post::is_whole(const Outgoing& message) const {
  return message_ == &message && (kind_ == Kind::kCopied || kind_ == Kind::kOffer);
}

Remote::Remote(ShmChannel& channel, int here, int there, Envelope its_envelope, const OfferNote& offer)
    : channel_(channel), here_(here), there_(there), address_(offer.address) {
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
  const bool read = wanted == 0 || (address_ != nullptr && channel_.read(there_, address_, wanted, to));
  if (read) {
    channel_.post(here_, there_, Post::taken(original));
    return finish();
  }
  to_ = to;
  wanted_ = wanted;
  channel_.post(here_, there_, Post::ask(original, this, wanted));
}

void Remote::take_piece(const std::byte* data, Count more) {
  datatype::unpack(to_, arrived_, {data, static_cast<std::size_t>(more)});
  arrived_ += more;
  if (arrived_ == wanted_) finish();
}

void Remote::finish() {
  sink->fetched(*this);
  delete this;
}

}  // namespace clump::net
