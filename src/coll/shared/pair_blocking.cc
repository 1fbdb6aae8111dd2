// What two ranks, each alone at its worker, give each other where it is too long for mailbox and short enough
// for their caches. Each copies what it gives into a room, they meet, each copies it out of the other one's
// room, and that is his from then on: he gives with it next. To write lines that one was the last to read
// takes a third to a tenth of the time that it takes to write lines that another core was. So two copies take
// less than one out of the other one's buffer, whose owner has to get all lines back when he writes it again;
// and as nobody reads a room but who owns it next, the two need not meet again afterwards.
// docs/decisions/027-swapped-rooms.md
//
// Programs that do not write what they give find it in both caches still, and then nothing is better than to
// read it there. Which of the two a program does shows when one tries, now and then.
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
  int& room = pair.sides[me.rank].room;
  std::call_once(pair.made, [&] { pair.rooms = std::make_unique_for_overwrite<PairBuffer[]>(2); });
  if (transfer.sends()) transfer.fill(pair.rooms[room], reduction);
  transfer.copy_local();
  meet(me, nullptr);
  if (me.is_settled()) [[unlikely]]
    return depart(me);
  room = 1 - room;
  if (transfer.receives()) transfer.receive_from(pair.rooms[room], me.rank, reduction);
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
  locality.left = locality.touched ? kSwaps : kDirectOnes;
}

}  // namespace clump::coll
