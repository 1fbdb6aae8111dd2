#include "coll/shared/pair_buffers.h"

#include <new>

namespace clump::coll {

PairBuffer* PairBuffers::fill(int rank, const PairTransfer& transfer, const Reduction* reduction) {
  if (transfer.bytes_sent() < kWorthTrying || !transfer.fits(reduction) || !wants_staging(sides_[rank]))
    return nullptr;
  PairBuffer* buffer = take(rank);
  if (buffer == nullptr) buffer = make(sides_[rank]);
  if (buffer != nullptr) transfer.fill(*buffer, reduction);
  return buffer;
}

PairBuffer* PairBuffers::make(Side& side) {
  for (auto& place : side.made)
    if (place == nullptr) {
      place.reset(new (std::nothrow) PairBuffer);
      return place.get();
    }
  return nullptr;
}

/// Now and then an operation goes without a buffer, and the reader of its data measures where that is.
bool PairBuffers::wants_staging(Side& side) {
  if (const Verdict verdict = side.verdict.load(std::memory_order_relaxed); verdict > Verdict::kAsked) {
    side.staged = verdict == Verdict::kStaged;
    side.verdict.store(Verdict::kNone, std::memory_order_relaxed);
    side.left = side.staged ? kStagedInARow : kInPlaceInARow;
  }
  if (side.left-- > 0) return side.staged;
  side.verdict.store(Verdict::kAsked, std::memory_order_relaxed);
  side.left = side.staged ? kStagedInARow : kInPlaceInARow;
  return false;
}

void PairBuffers::judge(int rank, const PairTransfer& transfer) {
  if (transfer.bytes_sent() < kTried) return;
  sides_[rank].verdict.store(is_far(transfer.send) ? Verdict::kStaged : Verdict::kInPlace,
                             std::memory_order_relaxed);
}

void PairBuffers::note_help() {
  for (Side& side : sides_) side.verdict.store(Verdict::kInPlace, std::memory_order_relaxed);
}

void PairBuffers::read(int rank, PairBuffer& buffer, bool returned) {
  const int reader = 1 - rank;
  if (!returned)
    if (PairBuffer* const other = take(reader)) put(rank, *other);
  put(reader, buffer);
}

PairBuffer* PairBuffers::take(int rank) {
  Side& side = sides_[rank];
  for (auto& place : side.free)
    // relaxed, acquire: pairs with the release in put().
    if (place.load(std::memory_order_relaxed) != nullptr)
      if (PairBuffer* const buffer = place.exchange(nullptr, std::memory_order_acquire)) return buffer;
  return nullptr;
}

void PairBuffers::put(int rank, PairBuffer& buffer) {
  // There are as many places as buffers, so one is free; others may come and go meanwhile.
  for (auto& free = sides_[rank].free;;)
    for (auto& place : free) {
      PairBuffer* none = nullptr;
      // release: the next owner writes after all reads of the one before.
      if (place.load(std::memory_order_relaxed) == nullptr &&
          place.compare_exchange_strong(none, &buffer, std::memory_order_release, std::memory_order_relaxed))
        return;
    }
}

}  // namespace clump::coll
