// What processes on different hosts send each other: a Header, a body that depends on the header's kind, and
// the bytes of a short message. All processes of a job run the same library on machines of one kind, so
// structs are sent as they are.
//
//   short messages  sender: kMessage, with the bytes; one, or several that follow each other closely
//   rendezvous      sender: kRts; receiver, once there is a receive: one kCts for each piece, after it has
//                   told its network where the piece goes; sender: the piece, as a tagged transfer; or, if
//                   no bytes are wanted, receiver: kFin
//   cancel          sender: kCancel; receiver, if there is no receive yet: kCancelled; otherwise nothing,
//                   and the message goes on as it would have
//
// A message is named by the number that its sender has given it (announced.h): no process follows an address
// that another one has sent. A field is looked at before it is used: endpoint_arrivals.cc says what is wrong
// with a frame, and gives up the process that has sent it. A frame without the receiver's token is dropped.
#pragma once

#include <cstdint>
#include <type_traits>

#include "net/channel.h"

namespace clump::net::ofi::wire {

enum class Kind : std::uint32_t { kMessage, kRts, kCts, kFin, kCancel, kCancelled, kCredit };

struct Header {
  std::uint64_t token;     ///< the receiver's; a message without it is not looked at any further
  std::uint32_t sequence;  ///< the number of this transfer from that endpoint to this one; wraps around
  std::uint32_t process;   ///< the sender
  std::uint32_t credit;    ///< so many more bytes of short messages may be sent to the sender of this
  Kind kind;
};
static_assert(sizeof(Header) == 24);

/// The envelope of a message, and its destination.
struct Address {
  std::uint32_t context;
  std::int32_t source, tag, destination;

  static Address of(Envelope envelope, int destination) {
    return {envelope.context(), envelope.source(), envelope.tag(), destination};
  }
  Envelope envelope() const { return {context, source, tag}; }
};

struct MessageBody {  // followed by the bytes, and, perhaps, by the next one
  Address address;
  Count bytes;
};

struct RtsBody {
  Address address;
  std::uint64_t message;
  Count bytes;
  std::uint64_t solid;  ///< not 0: the payload is one block of memory
};

struct CtsBody {
  std::uint64_t message;
  Count offset, bytes;  ///< the bytes of the piece
  Count wanted;         ///< the bytes of all pieces
  std::uint64_t tag;
};

struct FinBody {  // also the body of kCancelled
  std::uint64_t message;
};

struct CancelBody {
  Address address;
  std::uint64_t message;
};

struct NoBody {
  std::uint64_t none = 0;
};

template <typename Body>
struct Note {
  static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= 40);
  Header header;
  Body body;
};
static_assert(sizeof(Note<CtsBody>) == 64 && sizeof(Note<MessageBody>) == 48, "without holes");

/// The bytes in front of a short message's own.
inline constexpr std::size_t kHead = sizeof(Note<MessageBody>);
/// The longest short message of any endpoint, with its head; each endpoint has a limit of its own
/// (Endpoint::short_limit()).
inline constexpr std::size_t kLongest = kHead + 64 * 1024;

/// The approximate memory that a short message takes at its receiver besides its bytes: credit includes it.
inline constexpr Count kOverhead = 128;

}  // namespace clump::net::ofi::wire
