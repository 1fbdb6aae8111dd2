// How ranks of one process tell each other of epochs: that a rank has called MPI_Win_post, or
// MPI_Win_complete (MPI-5.0 section 12.5.2). There is a Completion for each pair of ranks and each of the two
// calls:
//
//   target: MPI_Win_post      --send(kPost, target, origin)----->  origin: MPI_Win_start waits, and resets it
//   origin: MPI_Win_complete  --send(kComplete, origin, target)->  target: MPI_Win_wait waits, and resets it
//
// A rank calls MPI_Win_post again only after MPI_Win_wait, which has waited for MPI_Win_complete of the
// origin, which comes after MPI_Win_start. So a Completion is reset before it is signalled again, and no
// count is needed. Ranks of other processes are told by messages (pscw.cc).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fiber/completion.h"

namespace clump::rma {

class EpochSignals {
 public:
  enum class Call : std::uint8_t { kPost, kComplete };

  /// `ranks`: of the window in this process; they are numbered from 0 on.
  explicit EpochSignals(int ranks);
  ~EpochSignals();
  EpochSignals(const EpochSignals&) = delete;
  EpochSignals& operator=(const EpochSignals&) = delete;

  /// `from` has made the call, for `to`. By a thread of `from`; wakes the thread of `to` that waits.
  void send(Call call, int from, int to) {
    fiber::Completion& signal = received(call, from, to);
    // It is done already only if the program has not used the last one, which is wrong (MPI_MODE_NOCHECK at
    // one side alone). No other thread signals it, so nothing comes in between.
    if (!signal.done()) static_cast<void>(signal.signal());
  }
  /// What a thread of `to` waits for, and resets then.
  fiber::Completion& received(Call call, int from, int to) {
    // acquire: pairs with the release in make_row().
    Line* row = rows_[static_cast<std::size_t>(to)].load(std::memory_order_acquire);
    if (row == nullptr) [[unlikely]]
      row = make_row(to);
    const auto at = static_cast<std::size_t>(from);
    return row[at / kPairs].pairs[at % kPairs][static_cast<std::size_t>(call)];
  }

 private:
  static constexpr std::size_t kPairs = 4;
  // A rank's row shares no cache line with another rank's.
  struct alignas(64) Line {
    std::array<std::array<fiber::Completion, 2>, kPairs> pairs;  // by sender, then by Call
  };
  static_assert(sizeof(Line) == 64);
  [[gnu::cold]] Line* make_row(int to);

  const int ranks_;
  std::unique_ptr<std::atomic<Line*>[]> rows_;  // by receiver; made by the first use
};

}  // namespace clump::rma
