// The protocol of the shm channel: the control messages between two processes of a node, and what one of them
// still has to put into a lane.
//
//   eager, short    sender: the bytes, in the lane
//   eager, staged   sender: the bytes in one staging buffer (a staged message)
//   eager, longer   sender: RTS, and at once pieces, so that one side copies in while the other copies out;
//   in
//                   staging buffers while the sender has some, otherwise in the lane
//   rendezvous      sender: RTS; receiver, once there is a receive: CTS; sender, when it makes progress:
//   pieces. If
//                   the sender does not answer soon, the receiver reads the sender's memory, where it may and
//                   where that is one dense block, and sends FIN
//   large           both sides have one dense block and may reach each other's memory: the receiver sends CTS
//   with
//                   the address where it wants the bytes, and begins to read; the sender, if it makes
//                   progress in time, writes from the other end, and sends "written" when no part is left to
//                   begin; the receiver sends FIN
//   cancel          sender: cancel; receiver, if there is no receive yet: cancelled; otherwise nothing, and
//   the
//                   message goes on as it would have
//
// Pointers in control messages belong to the process that made them, and only that process follows them.
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

/// Destinations of control messages; ranks are not negative.
enum class Control : int {
  kFin = -1,     ///< FinNote, to the sender
  kCts = -2,     ///< CtsNote, to the sender
  kPiece = -3,   ///< bytes, to the receiver; the envelope says for which ShmRendezvous; none: of the last RTS
  kCancel = -4,  ///< CancelNote, to the receiver; the envelope is the message's
  kCancelled = -5,     ///< CancelledNote, to the sender
  kWritten = -6,       ///< WrittenNote, to the receiver
  kStaged = -7,        ///< StagingNote, to the receiver; the envelope is the message's
  kBufferCredit = -8,  ///< BufferCreditNote, to the process that asked for a staging buffer
};

/// Bytes in a staging buffer: those of a piece, or of a staged message.
struct StagingNote {
  std::uint32_t staging_buffer, begin, bytes;
  bool is_over;        ///< no more will be in this staging buffer: it is the receiver's from now on
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
  std::uint64_t ticket;  ///< the side that claims it may move the message (Segment::claim); 0: the sender
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
  /// A message of this process that its receiver has asked for.
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
  /// To the sender, which wants it back; no receive here has it.
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
