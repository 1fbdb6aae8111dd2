#include "net/ofi/offered.h"

#include <algorithm>

#include "net/joint_work.h"
#include "net/ofi/gate.h"

namespace clump::net::ofi {

Offered::Offered(Gate& gate, int process, const wire::OfferBody& offer)
    : gate_(gate), process_(process), solid_(offer.solid != 0) {
  envelope = offer.address.envelope();
  bytes = offer.bytes;
  original = offer.message;
  synchronous = true;  // it stays where it is until somebody wants it
  is_remote = true;
}

void Offered::released() {
  gate_.post({.kind = Post::Kind::kTaken, .process = process_, .message = original});
  delete this;
}

void Offered::fetch(const datatype::Layout& to, Count wanted) {
  if (wanted == 0) {
    sink->fetched(*this);
    return released();
  }
  to_ = to;
  pieces_ = gate_.endpoint().pieces_of(wanted, solid_ && to.type->is_dense());
  wanted_ = wanted;
  gate_.post({.kind = Post::Kind::kFetch, .process = process_, .offered = this});
}

Offered::Piece Offered::next() const {
  return {asked_, std::min(pieces_.bytes, wanted_ - asked_),
          to_.type->is_dense() ? static_cast<std::byte*>(to_.base) + asked_ : nullptr};
}

void Offered::place(const Piece& piece, std::uint64_t tag) {
  unsent_ = {original, piece.offset, piece.bytes, wanted_, tag};
  has_unsent_ = true;
  asked_ += piece.bytes;
  ++in_flight_;
}

void Offered::take(Count offset, Count more, const std::byte* data) {
  if (data != nullptr) joint_unpack(to_, offset, {data, static_cast<std::size_t>(more)});
  arrived_ += more;
  --in_flight_;
}

}  // namespace clump::net::ofi
