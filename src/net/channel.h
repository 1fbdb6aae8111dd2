// The seam between who moves bytes (a Channel) and who matches them (a Sink). Channels never know matching;
// matching exists once.
//
// A send is an Outgoing: an envelope and the layout of the user's buffer. The channel takes it to the Sink of
// the destination rank, which answers with where the bytes shall go (a Posted receive), or keeps it as
// unexpected: then either its bytes are copied (eager), and the sender is free, or the Outgoing itself stays
// where it is until a receive is posted (rendezvous).
#pragma once

#include <cstdint>

#include "base/status.h"
#include "base/types.h"
#include "datatype/datatype.h"

namespace clump::net {

/// What a message is matched by (MPI-5.0 section 3.2.3), and its size.
struct Envelope {
  std::uint32_t context = 0;
  int source = 0;  ///< rank of the sender in the communicator (in the remote group's numbering: its own rank)
  int tag = 0;
  bool synchronous = false;  ///< the sender waits until a receive has matched
  Count bytes = 0;           ///< packed size
};
static_assert(sizeof(Envelope) == 24);

/// A message on its way, owned by the sender until released() is called. Exactly one call, by any thread, as
/// the last touch.
class Outgoing {
 public:
  Envelope envelope;
  datatype::Layout payload;
  /// The payload was copied (or will not be wanted): the buffer is the sender's again.
  virtual void released() = 0;

 protected:
  ~Outgoing() = default;
};

/// Takes arriving messages of one rank. Called by any thread.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Matches `message` against the posted receives. When this returns, the message was copied to its receive,
  /// was copied into a buffer, or is kept; in the first two cases released() was called.
  virtual void arrive(Outgoing& message) = 0;
  /// Gives a kept message back, unmatched, without calling released(); false if it is not kept (any more).
  virtual bool retract(Outgoing& message) = 0;
};

/// Moves messages to ranks that it can reach.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Never blocks. `destination` is a rank of the job that this channel reaches.
  virtual void send(int destination, Outgoing& message) = 0;
  /// Takes back a message that no receive has matched yet (MPI_Cancel); false if it is too late.
  virtual bool retract(int destination, Outgoing& message) = 0;
};

}  // namespace clump::net
