// What the shm channel's processes tell each other besides messages, and what one of them still has to tell.
//
//   short message   sender: the bytes, in the lane
//   longer          sender: the bytes in a staging buffer, a "staged message"
//   longer, eager   sender: an offer, and at once pieces, so that one side copies in while the other copies
//                   out; in staging buffers while it has some, otherwise in the lane
//   others          sender: an offer; receiver, once there is a receive: "ask"; sender, as soon as it looks:
//                   pieces. If it does not look soon, the receiver reads the sender's memory where it may and
//                   where that is one solid block, and says "taken"
//   large           where both sides have one solid block and may get at each other's memory, the receiver
//                   "asks", says where the bytes are wanted, and begins to read; the sender, if it looks in
//                   time, begins to write at the other end, and when there is nothing left to be begun says
//                   "written"; the receiver says "taken"
//   cancelled       sender: "withdraw"; receiver, if there is no receive yet: "withdrawn"; otherwise nothing,
//                   because it goes on as it would have
//
// Pointers in notes are of the process that has made them, and are only followed there.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "net/channel.h"
#include "net/lane.h"
#include "net/shm/segment.h"
#include "net/staging_buffers.h"

namespace clump::net {

class ShmRendezvous;

/// Destinations of notes to the channel itself; ranks are not negative.
enum class Control : int {
  kFin = -1,  ///< FinNote, to the sender
  kCts = -2,  ///< CtsNote, to the sender
  kPiece =
      -3,  ///< bytes, to the receiver; the envelope says for which ShmRendezvous; none: of the last offer
  kCancel = -4,        ///< CancelNote, to the receiver; the envelope is the message's
  kCancelled = -5,     ///< CancelledNote, to the sender
  kWritten = -6,       ///< WrittenNote, to the receiver
  kStaged = -7,        ///< StagingNote, to the receiver; the envelope is the message's
  kBufferCredit = -8,  ///< BufferCreditNote, to whoever wanted a staging buffer back
};

/// Bytes in a staging_buffer: those of a piece, or of a staged message.
struct StagingNote {
  std::uint32_t staging_buffer, begin, bytes;
  bool is_over;        ///< no more will be in this staging_buffer: it is the receiver's
  bool one_is_wanted;  ///< the sender has few: one shall come back for it
  int destination;     ///< of a staged message: the rank
};

struct BufferCreditNote {
  std::uint32_t staging_buffer;
};

/// Envelope: the message's. To a rank.
struct RtsNote {
  SendRequest* message;
  const void* address;  ///< of the payload, where it is one solid block; otherwise null
  Count bytes;
  bool streamed;  ///< all of it follows
};

struct FinNote {
  SendRequest* message;
};

struct CtsNote {
  SendRequest* message;
  ShmRendezvous* asker;
  Count bytes;           ///< so many are wanted
  std::uint64_t ticket;  ///< whoever claims it may move the message (Segment::claim); 0: the sender
  void* into;            ///< not null: it is moved in parts by both sides, and wanted there
};

/// All parts that the sender has claimed are where they are wanted; or not, if it could not write.
struct WrittenNote {
  ShmRendezvous* asker;
  bool complete;
};

struct CancelNote {
  SendRequest* message;
  int destination;
};

struct CancelledNote {
  SendRequest* message;
};

/// A pointer where a message has its envelope.
inline Envelope envelope_of(const ShmRendezvous* remote) {
  const auto bits = reinterpret_cast<std::uintptr_t>(remote);
  return {static_cast<std::uint32_t>(bits >> 32), static_cast<int>(static_cast<std::uint32_t>(bits)), 0};
}
inline ShmRendezvous* remote_of(Envelope envelope) {
  const std::uintptr_t low = static_cast<std::uint32_t>(envelope.source());
  return reinterpret_cast<ShmRendezvous*>(std::uintptr_t{envelope.context()} << 32 | low);
}

/// What there is to send with, from one port to another.
struct TransmitResources {
  Lane& lane;
  StagingBuffers& staging_buffers;
  const Segment& segment;
  /// False if there is no room, or no staging buffer; or if it is too long for one.
  bool push_staged(int destination, Envelope envelope, Count bytes, const datatype::Layout& payload);
};

/// Something to be put into a lane, if not now then when there is room.
class PendingWrite {
 public:
  /// A message of this process goes into the lane as it is, or in pieces, and is released.
  static PendingWrite copied(int destination, SendRequest& message);
  static PendingWrite streamed(int destination, SendRequest& message);
  /// It stays with its sender.
  static PendingWrite rts(int destination, SendRequest& message);
  static PendingWrite fin(SendRequest* message);
  static PendingWrite cts(const CtsNote& note);
  /// A message of this process that somebody has asked for.
  static PendingWrite pieces(SendRequest& message, ShmRendezvous* asker, Count bytes);
  static PendingWrite written(ShmRendezvous* asker, bool complete);
  static PendingWrite cancel(Envelope envelope, SendRequest* message, int destination);
  static PendingWrite cancelled(SendRequest* message);
  static PendingWrite buffer_credit(std::uint32_t staging_buffer);

  /// Puts what there is room for into the lane; true when it is all in. Then `released` is a message that is
  /// to be released, or null.
  bool push(TransmitResources way, SendRequest*& released);
  /// Whether it is this message, and nothing of it is in the lane.
  bool is_whole(const SendRequest& message) const;
  /// Whether it is this message, of which a part is in the lane.
  bool is_part(const SendRequest& message) const;

 private:
  enum class Kind : std::uint8_t {
    kCopied,
    kStreamed,
    kRts,
    kFin,
    kCts,
    kPieces,
    kWritten,
    kCancel,
    kCancelled,
    kBufferCredit
  };
  PendingWrite(Kind kind, int destination, SendRequest* message, ShmRendezvous* asker, Count bytes)
      : kind_(kind), destination_(destination), message_(message), asker_(asker), bytes_(bytes) {}
  bool push_rts(Lane& lane);
  bool push_pieces(TransmitResources way);
  bool push_piece(TransmitResources way);

  Kind kind_;
  bool offered_ = false;  // kStreamed
  int destination_;
  SendRequest* message_;
  ShmRendezvous* asker_;
  Count bytes_;
  Count done_ = 0;
  std::optional<std::uint32_t> staging_buffer_;  // pieces go into this one, or kBufferCredit
  Count in_staging_ = 0;                         // so much already
  std::uint64_t ticket_ = 0;
  void* into_ = nullptr;   // kCts
  bool complete_ = false;  // kWritten
  Envelope envelope_;      // only to withdraw it: the message may be gone
};

class ShmChannel;

/// How a message is divided that both sides move.
struct Division {
  /// From this size on it is worth it: below, two copies by way of a staging buffer take less than the
  /// kernel's one.
  static constexpr Count kFrom = 1024 * 1024;
  explicit Division(Count bytes);
  std::uint32_t parts;
  Count part;  ///< bytes of each but the last
  Count begin(int index) const { return index * part; }
  Count size(int index) const { return std::min(part, bytes - begin(index)); }
  Count bytes;
};

/// A message that another process has announced (RTS), from its arrival until it was fetched.
class ShmRendezvous final : public SendRequest {
 public:
  /// From port `there` to port `here`.
  ShmRendezvous(ShmChannel& channel, int here, int there, Envelope envelope, const RtsNote& offer);

  bool is_streamed() const { return streamed_; }
  void released() override;
  void fetch(const datatype::Layout& to, Count bytes) override;
  /// To the sender, who wants it back; nobody here has it any more.
  void give_back();
  /// The next bytes of what was asked for, or what follows.
  void take_piece(const std::byte* data, Count bytes);
  /// The sender does not answer: true if it will not any more, and fetch_by_reading() must follow. False:
  /// pieces come, and it may be gone at any time.
  bool claim();
  void fetch_by_reading();
  /// The sender has done its parts.
  void written(bool complete) { end_parts(kSender, complete); }

 private:
  bool fetch_together();
  enum Side : std::uint8_t { kReceiver = 1, kSender = 2 };
  void end_parts(Side side, bool complete);
  void keep(const std::byte* data, Count bytes);
  void finish();

  ShmChannel& channel_;
  const int here_, there_;
  const bool streamed_;
  const void* const address_;
  std::uint64_t ticket_ = 0;
  base::ShortMutex mutex_;  // of what follows: pieces may come while a receive is found
  bool fetching_ = false;
  datatype::Layout to_;
  Count wanted_ = 0, arrived_ = 0;
  std::unique_ptr<std::byte[]> early_;  // what has come before there was a receive
  unsigned at_work_ = 0;                // sides that have parts
  bool all_right_ = true;               // so far
};

}  // namespace clump::net
