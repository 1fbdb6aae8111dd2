// Blocking exchange of two ranks, each alone at its worker, of data that is too long for a mailbox and short
// enough for their caches: each copies its data into its own staging buffer, they synchronise once, each
// reads the other one's buffer, and the buffers change owner. No second synchronisation is needed, since only
// the next owner writes to a buffer. To write lines that the own core was the last to read takes a third to a
// tenth of the time that it takes to write lines that another core was; so two copies take less time than one
// out of the other rank's user buffer. docs/decisions/027-swapped-rooms.md
//
// A program that does not write what it sends has the data in both caches still, and then it is best read in
// place. Which of the two a program does shows in a trial, now and then (LocalityState).
#include <algorithm>

#include "coll/shared/team_state.h"

namespace clump::coll {

Count Team::most_of_transfer(int rank, const Call& call) {
  const PairTransfer transfer = PairTransfer::of(rank, call);
  return std::max(transfer.bytes_sent(), transfer.bytes_received());
}

/// The signature has what each of the two sends, so both ranks know whether they expect the same.
base::Status Team::exchange_pair_of_blocks(ArgumentSlot& me, const Call& call) {
  const PairTransfer transfer = PairTransfer::of(me.rank, call);
  const Count sent = transfer.bytes_sent(), received = transfer.bytes_received();
  me.bytes = me.rank == 0 ? sent | received << 32 : received | sent << 32;
  const bool in_place = call.in_place && me.bytes != 0;
  const bool fits = transfer.local_to.type == nullptr || transfer.local.bytes() == transfer.local_to.bytes();
  me.call = PackedSignature(call.collective, Algorithm::kShmPair, call.root, in_place, !fits, me.broadcasts);
  return exchange_pair(me, transfer, nullptr,
                       locality_of(me.rank, call.collective, std::max(sent, received)));
}

base::Status Team::exchange_pair(ArgumentSlot& me, const PairTransfer& transfer, const Reduction* reduction,
                                 LocalityState* locality) {
  Pair& pair = *pair_;
  int& mine = pair.sides[me.rank].buffer;
  std::call_once(pair.made, [&] { pair.buffers = std::make_unique_for_overwrite<PairBuffer[]>(2); });
  // A root whose two counts differ may have more than fits: then the ranks disagree, and no buffer is read.
  if (transfer.sends() && transfer.fits(reduction)) transfer.fill(pair.buffers[mine], reduction);
  transfer.copy_local();
  meet(me, nullptr);
  if (me.is_settled()) [[unlikely]]
    return depart(me);
  mine = 1 - mine;
  if (transfer.receives()) transfer.receive_from(pair.buffers[mine], me.rank, reduction);
  if (locality != nullptr) --locality->left;
  return {};
}

bool Team::is_touched(int rank, Collective collective, Count bytes) const {
  const LocalityState* const locality = locality_of(rank, collective, bytes);
  return locality == nullptr || (locality->touched && locality->left > 0);
}

/// Null: it makes no difference whether the data is touched.
Team::LocalityState* Team::locality_of(int rank, Collective collective, Count bytes) const {
  if (pair_ == nullptr || bytes < kWorthTrying || bytes > kPairBuffer) return nullptr;
  return &pair_->sides[rank].locality[static_cast<std::size_t>(collective)];
}

/// All buffers are known, and the caller will read what the other one has `given` where it lies.
void Team::try_out(Collective collective, const LocalityState& locality, const Layout& given) {
  if (locality.left > 0 || given.bytes() < kTried) return;
  if (is_far(given))
    pair_->touched_in[static_cast<std::size_t>(collective)].store(locality.trials + 1,
                                                                  std::memory_order_relaxed);
}

/// Both are through with that.
void Team::learn(Collective collective, LocalityState& locality) {
  if (--locality.left >= 0) return;
  ++locality.trials;
  locality.touched = pair_->touched_in[static_cast<std::size_t>(collective)].load(
                         std::memory_order_relaxed) == locality.trials;
  locality.left = locality.touched ? kStagedInARow : kInPlaceInARow;
}

}  // namespace clump::coll
