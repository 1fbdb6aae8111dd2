// What two processes of different jobs send each other over a stream socket: frames, some with bytes behind
// them.
//
//   connecting      kHello; the listener answers kWelcome, or kRefused with the reason, and closes. What
//                   follows kHello may be sent before the answer. Between hosts both sides prove before
//                   that they know the job (proof.h)
//   eager           kEager and the bytes
//   rendezvous      kRts; the receiver, once there is a receive: kCts, or kFin if it wants no bytes; the
//                   sender: kData frames in order, until all that is wanted has been sent
//   cancel          kCancel; the receiver, if there is no receive yet: kCancelled; otherwise nothing
//   flow            kCrowded: too much waits at a rank, so the sender announces its messages from now on; or
//   no more.
//                   Both are said when a message of that sender comes
//   belonging       kHere: this process holds places of yours, so its end is a failure, unless it has said
//   kBye.
//                   kHere comes as soon as there are such a place and a connection, kBye after the last place
//                   is given back. The connection stays. A process that ends before its answer to kHello is
//                   a failure, too
//
// A message is named by the number that its sender has given it, and what fetches it by a number of the
// receiver's: no process follows an address that another one has sent. A frame is looked at before it is used
// (peer.cc): a connection over which a wrong one comes is closed. Before kHello nothing else is taken, and
// before the answer to it nothing but the answer.
#pragma once

#include <cstdint>
#include <type_traits>

#include "net/link/peer_name.h"

namespace clump::net::link {

enum class Kind : std::uint32_t {
  kHello = 1,
  kWelcome,
  kRefused,
  kEager,
  kRts,
  kCts,
  kData,
  kFin,
  kCancel,
  kCancelled,
  kCrowded,
  kBye,
  kHere,
};

struct Frame {
  Kind kind = Kind::kBye;
  std::int32_t source = 0;       ///< the number of the sending rank in its job
  std::int32_t destination = 0;  ///< the number of the receiving rank in its own
  std::uint32_t context = 0;     ///< this and the next two: the envelope
  std::int32_t envelope_source = 0;
  std::int32_t tag = 0;
  std::int64_t bytes = 0;        ///< of the message; of kData, kHello, kRefused: behind this frame; of kCts:
                                 ///< wanted; of kCrowded: 1, or 0 if not any more
  std::uint64_t message = 0;     ///< the number of the message, at its sender
  std::uint64_t rendezvous = 0;  ///< the number of what fetches it, at its receiver
};
static_assert(sizeof(Frame) == 48 && std::has_unique_object_representations_v<Frame>);

/// Behind kHello.
struct Hello {
  static constexpr std::uint64_t kMark = 0x326b6e696c706d63;  // "cmplink2"
  std::uint64_t mark = kMark;
  std::uint64_t token = 0;  ///< of the job that is asked
  JobName job;              ///< the caller's
  std::int32_t process = 0;
  std::uint32_t checks = 0;  ///< what --check asks for: it changes what messages carry
  char version[32] = {};
  Location where;  ///< the caller is
};
static_assert(std::has_unique_object_representations_v<Hello>, "no byte that is sent is padding");

}  // namespace clump::net::link
