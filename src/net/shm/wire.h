// What processes of a node tell each other: control messages in lanes (lane.h), beside the bytes of short
// messages.
//
//   eager, short    sender: the bytes, in the lane
//   eager, staged   sender: the bytes in one staging buffer (a staged message)
//   eager, longer   sender: RTS, and at once pieces, so that one side copies in while the other copies out;
//   in
//                   staging buffers while the sender has some, otherwise in the lane
//   rendezvous      sender: RTS; receiver, once there is a receive: CTS; sender, when it makes progress:
//                   pieces. If the sender does not answer soon, the receiver reads the sender's memory, where
//                   it may and where that is one dense block, and sends FIN
//   large           both sides have one dense block and may reach each other's memory: the receiver sends CTS
//                   with the address where it wants the bytes, and begins to read; the sender, if it makes
//                   progress in time, writes from the other end, and sends "written" when no part is left to
//                   begin; the receiver sends FIN
//   cancel          sender: cancel; receiver, if there is no receive yet: cancelled; otherwise nothing, and
//                   the message goes on as it would have
//
// Pointers in control messages belong to the process that made them, and only that process follows them.
#pragma once

#include <cstdint>

#include "net/channel.h"

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

}  // namespace clump::net
