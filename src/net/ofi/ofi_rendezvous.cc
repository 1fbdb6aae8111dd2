#include "net/ofi/ofi_rendezvous.h"

#include <algorithm>

#include "net/joint_work.h"
#include "net/ofi/endpoint_context.h"

namespace clump::net::ofi {

OfiRendezvous::OfiRendezvous(EndpointContext& context, int process, const wire::RtsBody& rts)
    : IncomingRendezvous(rts.address.envelope(), rts.bytes, reinterpret_cast<SendRequest*>(rts.message)),
      context_(context),
      process_(process),
      solid_(rts.solid != 0) {}

void OfiRendezvous::send_fin() {
  context_.post({.kind = PendingSend::Kind::kFin, .process = process_, .number = number()});
}

void OfiRendezvous::send_cancelled() {
  context_.post({.kind = PendingSend::Kind::kCancelled, .process = process_, .number = number()});
}

void OfiRendezvous::pull() {
  if (wanted() == 0) return finish_with_fin();
  pieces_ = context_.endpoint().pieces_of(wanted(), solid_ && to().type->is_dense());
  context_.post({.kind = PendingSend::Kind::kFetch, .process = process_, .rendezvous = this});
}

OfiRendezvous::Piece OfiRendezvous::next() const {
  return {asked_, std::min(pieces_.bytes, wanted() - asked_),
          to().type->is_dense() ? static_cast<std::byte*>(to().base) + asked_ : nullptr};
}

void OfiRendezvous::place(const Piece& piece, std::uint64_t tag) {
  unsent_ = {number(), piece.offset, piece.bytes, wanted(), tag};
  has_unsent_ = true;
  asked_ += piece.bytes;
  ++in_flight_;
}

void OfiRendezvous::take(Count offset, Count more, const std::byte* data) {
  if (data != nullptr) joint_unpack(to(), offset, {data, static_cast<std::size_t>(more)});
  arrived_ += more;
  --in_flight_;
}

}  // namespace clump::net::ofi
