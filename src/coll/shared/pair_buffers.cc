#include "coll/shared/pair_buffers.h"

#include <new>

namespace clump::coll {

PairBuffer* PairBuffers::fill(int rank, const PairTransfer& transfer, const Reduction* reduction) {
  if (transfer.bytes_sent() < kWorthTrying || !transfer.fits(reduction) || !wants_room(sides_[rank]))
    return nullptr;
  PairBuffer* room = take(rank);
  if (room == nullptr) room = make(sides_[rank]);
  if (room != nullptr) transfer.fill(*room, reduction);
  return room;
}

PairBuffer* PairBuffers::make(Side& side) {
  for (auto& place : side.made)
    if (place == nullptr) {
      place.reset(new (std::nothrow) PairBuffer);
      return place.get();
    }
  return nullptr;
}

/// Now and then an operation does without, and who reads finds out.
bool PairBuffers::wants_room(Side& side) {
  if (const Verdict verdict = side.verdict.load(std::memory_order_relaxed); verdict > Verdict::kAsked) {
    side.by_room = verdict == Verdict::kByRoom;
    side.verdict.store(Verdict::kNone, std::memory_order_relaxed);
    side.left = side.by_room ? kSwaps : kDirectOnes;
  }
  if (side.left-- > 0) return side.by_room;
  side.verdict.store(Verdict::kAsked, std::memory_order_relaxed);
  side.left = side.by_room ? kSwaps : kDirectOnes;
  return false;
}

void PairBuffers::judge(int rank, const PairTransfer& transfer) {
  if (transfer.bytes_sent() < kTried) return;
  sides_[rank].verdict.store(is_far(transfer.send) ? Verdict::kByRoom : Verdict::kInPlace,
                             std::memory_order_relaxed);
}

void PairBuffers::note_help() {
  for (Side& side : sides_) side.verdict.store(Verdict::kInPlace, std::memory_order_relaxed);
}

void PairBuffers::read(int rank, PairBuffer& room, bool returned) {
  const int reader = 1 - rank;
  if (!returned)
    if (PairBuffer* const other = take(reader)) put(rank, *other);
  put(reader, room);
}

PairBuffer* PairBuffers::take(int rank) {
  Side& side = sides_[rank];
  for (auto& place : side.free)
    // relaxed, acquire: pairs with the release in put().
    if (place.load(std::memory_order_relaxed) != nullptr)
      if (PairBuffer* const room = place.exchange(nullptr, std::memory_order_acquire)) return room;
  return nullptr;
}

void PairBuffers::put(int rank, PairBuffer& room) {
  // There are as many places as rooms, so one is free; others may come and go meanwhile.
  for (auto& free = sides_[rank].free;;)
    for (auto& place : free) {
      PairBuffer* none = nullptr;
      // release: the next owner writes after all reads of the one before.
      if (place.load(std::memory_order_relaxed) == nullptr &&
          place.compare_exchange_strong(none, &room, std::memory_order_release, std::memory_order_relaxed))
        return;
    }
}

}  // namespace clump::coll
