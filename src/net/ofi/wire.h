// What processes on different hosts tell each other: a Header, a body that says the rest, and the bytes of a
// short message. All of a job's processes run the same library on machines of one kind, so structs travel as
// they are.
//
//   short messages  sender: kMessage, with the bytes; one, or several that follow each other closely
//   others          sender: kRts; receiver, once there is a receive: one kCts for each piece, having said
//                   to its network where the piece goes; sender: the piece, as a tagged transfer; or, where
//                   nothing is wanted, receiver: kFin
//   cancelled       sender: kCancel; receiver, if there is no receive yet: kCancelled; otherwise nothing,
//                   because it goes on as it would have
//
// Pointers are of the process that has made them, and are only followed there.
#pragma once

#include <cstdint>
#include <type_traits>

#include "net/channel.h"

namespace clump::net::ofi::wire {

enum class Kind : std::uint32_t { kMessage, kRts, kCts, kFin, kCancel, kCancelled, kCredit };

struct Header {
  std::uint64_t token;     ///< the receiver's; without it nothing else is looked at
  std::uint32_t sequence;  ///< number of what was sent from this endpoint to that one; wraps around
  std::uint32_t process;   ///< the sender
  std::uint32_t credit;    ///< so many more bytes of short messages may be sent to it
  Kind kind;
};
static_assert(sizeof(Header) == 24);

/// Whose message it is, and whom it is for.
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
  SendRequest* message;
  Count bytes;
  std::uint64_t solid;  ///< it is one block of memory
};

struct CtsBody {
  SendRequest* message;
  Count offset, bytes;  ///< of the piece
  Count wanted;         ///< of all pieces
  std::uint64_t tag;
};

struct FinBody {  // also of kCancelled
  SendRequest* message;
};

struct CancelBody {
  Address address;
  SendRequest* message;
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

/// What a short message has before its bytes.
inline constexpr std::size_t kHead = sizeof(Note<MessageBody>);
/// The longest that there is, with its head; each endpoint has a limit of its own (Endpoint::short_limit()).
inline constexpr std::size_t kLongest = kHead + 64 * 1024;

/// What a short message costs its receiver besides its bytes, roughly: credit is counted with it.
inline constexpr Count kOverhead = 128;

}  // namespace clump::net::ofi::wire
