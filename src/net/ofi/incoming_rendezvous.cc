#include "net/ofi/incoming_rendezvous.h"

#include <algorithm>

#include "net/joint_work.h"
#include "net/ofi/endpoint_context.h"

namespace clump::net::ofi {

OfiRendezvous::OfiRendezvous(EndpointContext& context, int process, const wire::RtsBody& offer)
    : context_(context), process_(process), solid_(offer.solid != 0) {
  envelope = offer.address.envelope();
  bytes = offer.bytes;
  original = offer.message;
  synchronous = true;  // it stays where it is until somebody wants it
  is_remote = true;
}

void OfiRendezvous::released() {
  context_.post({.kind = PendingSend::Kind::kFin, .process = process_, .message = original});
  delete this;
}

void OfiRendezvous::fetch(const datatype::Layout& to, Count wanted) {
  if (wanted == 0) {
    sink->fetched(*this);
    return released();
  }
  to_ = to;
  pieces_ = context_.endpoint().pieces_of(wanted, solid_ && to.type->is_dense());
  wanted_ = wanted;
  context_.post({.kind = PendingSend::Kind::kFetch, .process = process_, .rendezvous = this});
}

OfiRendezvous::Piece OfiRendezvous::next() const {
  return {asked_, std::min(pieces_.bytes, wanted_ - asked_),
          to_.type->is_dense() ? static_cast<std::byte*>(to_.base) + asked_ : nullptr};
}

void OfiRendezvous::place(const Piece& piece, std::uint64_t tag) {
  unsent_ = {original, piece.offset, piece.bytes, wanted_, tag};
  has_unsent_ = true;
  asked_ += piece.bytes;
  ++in_flight_;
}

void OfiRendezvous::take(Count offset, Count more, const std::byte* data) {
  if (data != nullptr) joint_unpack(to_, offset, {data, static_cast<std::size_t>(more)});
  arrived_ += more;
  --in_flight_;
}

}  // namespace clump::net::ofi
