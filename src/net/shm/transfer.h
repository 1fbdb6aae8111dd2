// What the shm channel's processes tell each other besides messages, and what one of them still has to tell.
//
//   short message   sender: the bytes, in the lane
//   others          sender: an offer; receiver, once there is a receive: reads the sender's memory, and
//                   "taken"; or, where it cannot (not allowed, or not one solid block), "ask", and the
//                   sender: pieces
//   cancelled       sender: "withdraw"; receiver, if there is no receive yet: "withdrawn"; otherwise nothing,
//                   because it goes on as it would have
//
// Pointers in notes are of the process that has made them, and are only followed there.
#pragma once

#include <deque>

#include "net/channel.h"
#include "net/lane.h"

namespace clump::net {

class Remote;

/// Destinations of notes to the channel itself; ranks are not negative.
enum class Control : int {
  kTaken = -1,      ///< TakenNote, to the sender
  kAsk = -2,        ///< AskNote, to the sender
  kPiece = -3,      ///< bytes, to the receiver; the envelope says for which Remote
  kWithdraw = -4,   ///< WithdrawNote, to the receiver; the envelope is the message's
  kWithdrawn = -5,  ///< WithdrawnNote, to the sender
};

/// Envelope: the message's. To a rank.
struct OfferNote {
  Outgoing* message;
  const void* address;  ///< of the payload, where it is one solid block; otherwise null
  Count bytes;
};

struct TakenNote {
  Outgoing* message;
};

struct AskNote {
  Outgoing* message;
  Remote* asker;
  Count bytes;  ///< so many are wanted
};

struct WithdrawNote {
  Outgoing* message;
  int destination;
};

struct WithdrawnNote {
  Outgoing* message;
};

/// A pointer where a message has its envelope.
inline Envelope envelope_of(const Remote* remote) {
  const auto bits = reinterpret_cast<std::uintptr_t>(remote);
  return {static_cast<std::uint32_t>(bits >> 32), static_cast<int>(static_cast<std::uint32_t>(bits)), 0};
}
inline Remote* remote_of(Envelope envelope) {
  const std::uintptr_t low = static_cast<std::uint32_t>(envelope.source());
  return reinterpret_cast<Remote*>(std::uintptr_t{envelope.context()} << 32 | low);
}

/// Something to be put into a lane, if not now then when there is room.
class Post {
 public:
  /// A message of this process. `copied`: its bytes go into the lane, and it is released.
  static Post message(int destination, Outgoing& message, bool copied);
  static Post taken(Outgoing* message);
  static Post ask(Outgoing* message, Remote* asker, Count bytes);
  /// A message of this process that somebody has asked for.
  static Post pieces(Outgoing& message, Remote* asker, Count bytes);
  static Post withdraw(Envelope envelope, Outgoing* message, int destination);
  static Post withdrawn(Outgoing* message);

  /// Puts what there is room for into the lane; true when it is all in. Then `released` is a message that is
  /// to be released, or null.
  bool push(Lane& lane, Count longest, Outgoing*& released);
  /// Whether it is this message, and nothing of it is in the lane.
  bool is_whole(const Outgoing& message) const;

 private:
  enum class Kind : std::uint8_t { kCopied, kOffer, kTaken, kAsk, kPieces, kWithdraw, kWithdrawn };
  Post(Kind kind, int destination, Outgoing* message, Remote* asker, Count bytes)
      : kind_(kind), destination_(destination), message_(message), asker_(asker), bytes_(bytes) {}
  bool push_pieces(Lane& lane, Count longest);

  Kind kind_;
  int destination_;
  Outgoing* message_;
  Remote* asker_;
  Count bytes_;
  Count done_ = 0;
  Envelope envelope_;  // only to withdraw it: the message may be gone
};

class ShmChannel;

/// A message that another process has offered, from its arrival until it was fetched.
class Remote final : public Outgoing {
 public:
  /// From port `there` to port `here`.
  Remote(ShmChannel& channel, int here, int there, Envelope envelope, const OfferNote& offer);

  void released() override;
  void fetch(const datatype::Layout& to, Count bytes) override;
  /// To the sender, who wants it back; nobody here has it any more.
  void give_back();
  /// The next bytes of what was asked for.
  void take_piece(const std::byte* data, Count bytes);

 private:
  void finish();

  ShmChannel& channel_;
  const int here_, there_;
  const void* const address_;
  datatype::Layout to_;
  Count wanted_ = 0, arrived_ = 0;
};

}  // namespace clump::net
