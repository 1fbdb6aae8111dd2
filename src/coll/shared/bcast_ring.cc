// Small broadcasts of a team: the root publishes the data in a slot of a ring, and waits for no rank.
//
//   root: slot[number] = data, number      readers: wait for the number, copy, and after a batch: read =
//   number
//
// The ring has two batches of slots, so a root is ahead of the slowest reader by one batch at least and two
// at most: before it writes the first slot of a batch, it makes sure that all ranks have read the batch that
// was there.
//
// A rank that calls another collective instead arrives with another number of broadcasts in its
// PackedSignature, and the leaders find that out.
#include <algorithm>

#include "coll/check/mismatch_errors.h"
#include "coll/shared/team_state.h"
#include "fiber/fiber.h"

namespace clump::coll {

namespace {

constexpr int kYields = 2;

}  // namespace

base::Status Team::publish_or_read(ArgumentSlot& me, const Call& call) {
  const std::uint64_t number = ++me.broadcasts;
  RingSlot& ring_slot = ring_[number % kRingSlots];
  base::Status status = me.rank == call.root ? publish(me, number, ring_slot, call)
                                             : read_published(me, number, ring_slot, call);
  if ((number + 1) % kBatch == 0) {
    // seq_cst: a root that says in `follower` that it waits looks at `read` after that.
    me.read.store(number + 1, std::memory_order_seq_cst);
    if (me.follower.load(std::memory_order_seq_cst) != nullptr)
      if (ArgumentSlot* const follower = me.follower.exchange(nullptr)) follower->released.signal();
  }
  return status;
}

base::Status Team::publish(ArgumentSlot& me, std::uint64_t number, RingSlot& ring_slot, const Call& call) {
  if (number % kBatch == 0) wait_for_readers(me, number - kBatch);
  const auto root_of_two = [&] {
    return different_roots(me.rank, me.rank, ring_slot.call.root(), ring_slot.call.root());
  };
  // acquire: pairs with the other root's exchange below; its call is told.
  if (ring_slot.number.load(std::memory_order_acquire) == number) return root_of_two();
  ring_slot.call = me.call;
  ring_slot.bytes = call.bytes;
  pack_short(ring_slot.data, call.send, call.bytes);
  // seq_cst: who says that it sleeps from now on, or polls no more, looks at the number after that.
  if (ring_slot.number.exchange(number, std::memory_order_seq_cst) == number) return root_of_two();
  for (int i = 0; i < group_count_; ++i) {
    LocalGroup& group = groups_[i];
    if (group.asleep.load(std::memory_order_seq_cst) != 0 &&
        group.pollers.load(std::memory_order_seq_cst) == 0)
      wake_readers(group, number, 1);
  }
  return {};
}

/// Until all have read what has a smaller number.
void Team::wait_for_readers(ArgumentSlot& me, std::uint64_t number) {
  for (int rank = 0; rank < size_; ++rank) {
    ArgumentSlot& other = slots_[rank];
    if (&other == &me || other.read.load(std::memory_order_acquire) >= number) continue;
    fiber::poll_for(other.read, number);
    while (other.read.load(std::memory_order_acquire) < number) {
      other.follower.store(&me, std::memory_order_seq_cst);
      const bool read = other.read.load(std::memory_order_seq_cst) >= number;
      if (read && other.follower.exchange(nullptr) != nullptr) break;
      me.released.wait();
      me.released.reset();
    }
  }
}

base::Status Team::read_published(ArgumentSlot& me, std::uint64_t number, const RingSlot& ring_slot,
                                  const Call& call) {
  if (ring_slot.number.load(std::memory_order_acquire) < number) wait_for_slot(me, number, ring_slot);
  if (ring_slot.call.root() != call.root)
    return different_roots(me.rank, call.root, ring_slot.call.root(), ring_slot.call.root());
  unpack_short(call.recv, 0, ring_slot.data, std::min(ring_slot.bytes, call.bytes));
  if (ring_slot.bytes != call.bytes)
    return base::fail(MPI_ERR_TRUNCATE, "rank {} sent {} bytes where rank {} expects {}: {}", call.root,
                      ring_slot.bytes, me.rank, call.bytes, kAdvice);
  return {};
}

// A rank that polls sees the slot without any work of the root. Only if no rank of a group polls, the root
// wakes one rank of it, so that the group does not cost it a wake-up for each rank; and it wakes none if a
// rank that was woken has not gone on yet (16 ranks on 2 cores: 0.67 instead of 0.95 us; most roots woke a
// rank on the other core). The rank that polls or was woken wakes the others. A rank that is ahead of them,
// and begins to wait for the next slot, wakes them first: a slow root may take it for one that waits for the
// last slot.
//
// Before a rank sleeps it calls yield() up to twice: the roots that it waits for may be fibers of its core,
// and when it comes back there are several slots to read, for less than it costs to sleep and be woken (4,
// 16, 64 ranks on 2 cores: 0.18, 0.52, 1.8 instead of 0.26, 0.61, 2.1 us; with one turn 0.22, 0.61, 1.9, with
// 4 to 16 as with two).
void Team::wait_for_slot(ArgumentSlot& me, std::uint64_t number, const RingSlot& ring_slot) {
  LocalGroup& group = *me.group;
  wake_readers(group, number - 1, kAll);
  const auto is_behind = [&] { return ring_slot.number.load(std::memory_order_acquire) < number; };
  for (int turn = 0; turn < kYields && is_behind() && fiber::rank_fiber() != nullptr; ++turn)
    if (!fiber::yield()) break;
  fiber::poll_for(ring_slot.number, number, &group.pollers);
  while (ring_slot.number.load(std::memory_order_seq_cst) < number) {
    // The count first, so that it is never less than those who sleep. Both seq_cst: see publish().
    group.asleep.fetch_add(1, std::memory_order_seq_cst);
    me.awaits.exchange(number, std::memory_order_seq_cst);
    if (ring_slot.number.load(std::memory_order_seq_cst) >= number && me.awaits.exchange(0) != 0) {
      group.asleep.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
    me.released.wait();
    me.released.reset();
    group.pollers.fetch_sub(1, std::memory_order_seq_cst);
  }
  // Roots of later broadcasts may have taken it for one that polls for theirs, and woken none.
  while (ring_[(number + 1) % kRingSlots].number.load(std::memory_order_seq_cst) > number) ++number;
  wake_readers(group, number, kAll);
}

/// Those of them that wait for this number or a smaller one.
void Team::wake_readers(LocalGroup& group, std::uint64_t number, int most) {
  if (group.asleep.load(std::memory_order_seq_cst) == 0) return;
  for (ArgumentSlot* member : group.members) {
    std::uint64_t awaited = member->awaits.load(std::memory_order_seq_cst);
    if (awaited == 0 || awaited > number || !member->awaits.compare_exchange_strong(awaited, 0)) continue;
    group.pollers.fetch_add(1, std::memory_order_relaxed);
    group.asleep.fetch_sub(1, std::memory_order_relaxed);
    member->released.signal();
    if (--most == 0) return;
  }
}

}  // namespace clump::coll
