// RingProtocol: the atomic operations of the broadcast ring: when a root may write a slot, when a reader may
// read it, and which thread wakes which.
//
//   root:    slot[number] = data, number
//   readers: wait for the number, copy; after a batch: read = number
//
// The ring has two batches of slots, so a root is ahead of the slowest reader by one batch at least and two
// at most: before it writes the first slot of a batch, it makes sure that all ranks have read the batch that
// was there.
//
// The `Owner` defines the data, where the words lie, and how a thread polls and sleeps. It is Team
// (bcast_ring.cc), or a test that explores in which orders the operations can happen (ring_protocol_test.cc).
// An Owner has
//   ArgumentSlot   of a rank: read, follower, awaits, released, group (shared_state.h)
//   LocalGroup     of the ranks of a worker: members, asleep, pollers
//   RingSlot       number, and the data
//   slots_, size_; groups_, group_count_; ring_, kRingSlots, kBatch
//   Waiting        poll_for(word, least[, pollers]), as fiber::poll_for(); yield(): whether others ran
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace clump::coll {

/// One broadcast is: publish() by its root, await() and the copy by all others, then finish() by all. Each
/// rank calls them for the numbers 1, 2, 3, ... in turn.
template <typename Owner>
class RingProtocol {
 public:
  using Rank = typename Owner::ArgumentSlot;
  using Group = typename Owner::LocalGroup;
  using Slot = typename Owner::RingSlot;

  /// Waits until the slot may be written, calls write(), and lets the others read. Returns false if another
  /// rank takes itself for the root, and has published the broadcast.
  template <typename Write>
  static bool publish(Owner& owner, Rank& me, std::uint64_t number, Slot& slot, Write write);
  /// Waits until the slot has the broadcast.
  static void await(Owner& owner, Rank& me, std::uint64_t number, const Slot& slot);
  /// The caller has written the slot, or read it.
  static void finish(Rank& me, std::uint64_t number);

 private:
  static constexpr int kAll = std::numeric_limits<int>::max();
  static constexpr int kYields = 2;
  static void wait_for_readers(Owner& owner, Rank& me, std::uint64_t number);
  static void wait_for_slot(Owner& owner, Rank& me, std::uint64_t number, const Slot& slot);
  static void wake_readers(Group& group, std::uint64_t number, int most);
};

template <typename Owner>
template <typename Write>
bool RingProtocol<Owner>::publish(Owner& owner, Rank& me, std::uint64_t number, Slot& slot, Write write) {
  if (number % Owner::kBatch == 0) wait_for_readers(owner, me, number - Owner::kBatch);
  // acquire: pairs with the other root's exchange below; its call is told.
  if (slot.number.load(std::memory_order_acquire) == number) return false;
  write();
  // seq_cst: a reader that says that it sleeps, or polls no more, looks at the number after that.
  if (slot.number.exchange(number, std::memory_order_seq_cst) == number) return false;
  for (int i = 0; i < owner.group_count_; ++i) {
    Group& group = owner.groups_[i];
    if (group.asleep.load(std::memory_order_seq_cst) != 0 &&
        group.pollers.load(std::memory_order_seq_cst) == 0)
      wake_readers(group, number, 1);
  }
  return true;
}

/// Until all have read what has a smaller number.
template <typename Owner>
void RingProtocol<Owner>::wait_for_readers(Owner& owner, Rank& me, std::uint64_t number) {
  for (int rank = 0; rank < owner.size_; ++rank) {
    Rank& other = owner.slots_[rank];
    if (&other == &me || other.read.load(std::memory_order_acquire) >= number) continue;
    Owner::Waiting::poll_for(other.read, number);
    while (other.read.load(std::memory_order_acquire) < number) {
      other.follower.store(&me, std::memory_order_seq_cst);
      const bool read = other.read.load(std::memory_order_seq_cst) >= number;
      if (read && other.follower.exchange(nullptr) != nullptr) break;
      me.released.wait();
      me.released.reset();
    }
  }
}

template <typename Owner>
inline void RingProtocol<Owner>::await(Owner& owner, Rank& me, std::uint64_t number, const Slot& slot) {
  if (slot.number.load(std::memory_order_acquire) < number) wait_for_slot(owner, me, number, slot);
}

template <typename Owner>
inline void RingProtocol<Owner>::finish(Rank& me, std::uint64_t number) {
  if ((number + 1) % Owner::kBatch != 0) return;
  // seq_cst: a root that says in `follower` that it waits looks at `read` after that.
  me.read.store(number + 1, std::memory_order_seq_cst);
  if (me.follower.load(std::memory_order_seq_cst) != nullptr)
    if (Rank* const follower = me.follower.exchange(nullptr)) follower->released.signal();
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
template <typename Owner>
void RingProtocol<Owner>::wait_for_slot(Owner& owner, Rank& me, std::uint64_t number, const Slot& slot) {
  Group& group = *me.group;
  wake_readers(group, number - 1, kAll);
  const auto is_behind = [&] { return slot.number.load(std::memory_order_acquire) < number; };
  for (int turn = 0; turn < kYields && is_behind(); ++turn)
    if (!Owner::Waiting::yield()) break;
  Owner::Waiting::poll_for(slot.number, number, &group.pollers);
  while (slot.number.load(std::memory_order_seq_cst) < number) {
    // The count first, so that it is never less than the readers that sleep. Both seq_cst: see publish().
    group.asleep.fetch_add(1, std::memory_order_seq_cst);
    me.awaits.exchange(number, std::memory_order_seq_cst);
    if (slot.number.load(std::memory_order_seq_cst) >= number && me.awaits.exchange(0) != 0) {
      group.asleep.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
    me.released.wait();
    me.released.reset();
    group.pollers.fetch_sub(1, std::memory_order_seq_cst);
  }
  // Roots of later broadcasts may have taken it for one that polls for theirs, and woken none.
  while (owner.ring_[(number + 1) % Owner::kRingSlots].number.load(std::memory_order_seq_cst) > number)
    ++number;
  wake_readers(group, number, kAll);
}

/// Those of them that wait for this number or a smaller one.
template <typename Owner>
void RingProtocol<Owner>::wake_readers(Group& group, std::uint64_t number, int most) {
  if (group.asleep.load(std::memory_order_seq_cst) == 0) return;
  for (Rank* member : group.members) {
    std::uint64_t awaited = member->awaits.load(std::memory_order_seq_cst);
    if (awaited == 0 || awaited > number || !member->awaits.compare_exchange_strong(awaited, 0)) continue;
    group.pollers.fetch_add(1, std::memory_order_relaxed);
    group.asleep.fetch_sub(1, std::memory_order_relaxed);
    member->released.signal();
    if (--most == 0) return;
  }
}

}  // namespace clump::coll
