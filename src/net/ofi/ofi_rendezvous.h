// How the ofi channel moves a message that a process of another host has announced: the receiver asks for it
// in pieces, each a tagged transfer to where it is wanted.
#pragma once

#include "net/incoming_rendezvous.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/wire.h"

namespace clump::net::ofi {

class EndpointContext;

class OfiRendezvous final : public IncomingRendezvous {
 public:
  OfiRendezvous(EndpointContext& context, int process, const wire::RtsBody& rts);

  int process() const { return process_; }

  // For the endpoint context, which has the lock.

  /// The next piece to be asked for.
  struct Piece {
    Count offset = 0, bytes = 0;
    std::byte* in_place = nullptr;  ///< where it goes; null: somewhere else, to be unpacked
  };
  bool has_next() const { return asked_ < wanted() && in_flight_ < pieces_.at_once; }
  Piece next() const;
  /// Its place is known to the network; the note is still to be sent.
  void place(const Piece& piece, std::uint64_t tag);
  const wire::CtsBody* unsent() const { return has_unsent_ ? &unsent_ : nullptr; }
  void sent() { has_unsent_ = false; }
  /// A piece is here; `data` is where it does not lie in place.
  void take(Count offset, Count bytes, const std::byte* data);
  bool complete() const { return arrived_ == wanted(); }

  bool waits = false;  ///< a post that asks for the next pieces is in a backlog

 private:
  void send_fin() override;
  void send_cancelled() override;
  void pull() override;

  /// The message's, at its sender.
  std::uint64_t number() const { return reinterpret_cast<std::uint64_t>(original); }

  EndpointContext& context_;
  const int process_;
  const bool solid_;
  Endpoint::Pieces pieces_{};
  Count asked_ = 0, arrived_ = 0;
  int in_flight_ = 0;
  bool has_unsent_ = false;
  wire::CtsBody unsent_{};
};

}  // namespace clump::net::ofi
