#include "rma/epoch_signals.h"

namespace clump::rma {

EpochSignals::EpochSignals(int ranks)
    : ranks_(ranks), rows_(std::make_unique<std::atomic<Line*>[]>(static_cast<std::size_t>(ranks))) {}

EpochSignals::~EpochSignals() {
  for (int to = 0; to < ranks_; ++to) delete[] rows_[static_cast<std::size_t>(to)].load();
}

EpochSignals::Line* EpochSignals::make_row(int to) {
  auto fresh = std::make_unique<Line[]>((static_cast<std::size_t>(ranks_) + kPairs - 1) / kPairs);
  Line* row = nullptr;
  // release: pairs with the acquire in received(). acquire: the row that another thread has made meanwhile.
  const bool is_mine = rows_[static_cast<std::size_t>(to)].compare_exchange_strong(
      row, fresh.get(), std::memory_order_release, std::memory_order_acquire);
  return is_mine ? fresh.release() : row;
}

}  // namespace clump::rma
