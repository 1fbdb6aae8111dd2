// What a port of the shm channel has to put into a lane, now or when there is room.
#pragma once

#include <optional>

#include "net/lane.h"
#include "net/shm/segment.h"
#include "net/shm/wire.h"
#include "net/staging_buffers.h"

namespace clump::net {

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

}  // namespace clump::net
