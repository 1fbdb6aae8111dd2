// Small broadcasts of a team: the root publishes the data in a slot of a ring, and waits for no rank. How
// threads agree about the slots: ring_protocol.h.
//
// A rank that calls another collective instead arrives with another number of broadcasts in its
// PackedSignature, and the leaders find that out.
#include <algorithm>

#include "coll/check/mismatch_errors.h"
#include "coll/shared/ring_protocol.h"
#include "coll/shared/team_state.h"
#include "fiber/fiber.h"

namespace clump::coll {

struct Team::Waiting {
  static bool poll_for(const std::atomic<std::uint64_t>& word, std::uint64_t least,
                       std::atomic<int>* pollers = nullptr) {
    return fiber::poll_for(word, least, pollers);
  }
  static bool yield() { return fiber::rank_fiber() != nullptr && fiber::yield(); }
};

PackedSignature Team::broadcast(std::uint64_t number) const { return ring_[number % kRingSlots].call; }

base::Status Team::publish_or_read(ArgumentSlot& me, const Call& call) {
  const std::uint64_t number = ++me.broadcasts;
  RingSlot& ring_slot = ring_[number % kRingSlots];
  base::Status status = me.rank == call.root ? publish(me, number, ring_slot, call)
                                             : read_published(me, number, ring_slot, call);
  RingProtocol<Team>::finish(me, number);
  return status;
}

base::Status Team::publish(ArgumentSlot& me, std::uint64_t number, RingSlot& ring_slot, const Call& call) {
  const bool published = RingProtocol<Team>::publish(*this, me, number, ring_slot, [&] {
    ring_slot.call = me.call;
    ring_slot.bytes = call.bytes;
    pack_short(ring_slot.data, call.send, call.bytes);
  });
  if (published) return {};
  return different_roots(me.rank, me.rank, ring_slot.call.root(), ring_slot.call.root());
}

base::Status Team::read_published(ArgumentSlot& me, std::uint64_t number, const RingSlot& ring_slot,
                                  const Call& call) {
  RingProtocol<Team>::await(*this, me, number, ring_slot);
  if (ring_slot.call != me.call) [[unlikely]] {
    if (ring_slot.call.caller() != call.caller)
      return different_calls(me.rank, me.call.name(), ring_slot.call.root(), ring_slot.call.name());
    return different_roots(me.rank, call.root, ring_slot.call.root(), ring_slot.call.root());
  }
  unpack_short(call.recv, 0, ring_slot.data, std::min(ring_slot.bytes, call.bytes));
  if (ring_slot.bytes != call.bytes)
    return base::fail(MPI_ERR_TRUNCATE, "rank {} sent {} bytes where rank {} expects {}: {}", call.root,
                      ring_slot.bytes, me.rank, call.bytes, kAdvice);
  return {};
}

}  // namespace clump::coll
