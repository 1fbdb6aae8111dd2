#include "process/rank_state.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "fiber/identity.h"
#include "process/files/output.h"
#include "process/signals/state.h"

namespace clump::image {
namespace {

struct Whole {
  explicit Whole(const fiber::Identity* rank) : output(rank) {}

  signals::SignalState signals;
  output::RankOutput output;
  RankState state{signals, output};
};

constinit std::atomic<int> kinds{0};  ///< any thread; relaxed: only the count matters

}  // namespace

StateOfRank make_state(const fiber::Identity* rank) {
  alignas(Whole) static constinit std::byte of_process[sizeof(Whole)] = {};
  Whole* const whole = rank == nullptr ? new (of_process) Whole(nullptr) : new Whole(rank);
  return {&whole->state, whole, sizeof *whole};
}

// Not for the image without an identity, whose state is no memory of `new`: it is never destroyed.
void free_state(const StateOfRank& state) { delete static_cast<Whole*>(state.begin); }

// Without a lock, since a signal handler may have interrupted it: threads that come at once lose a number.
int number_of_kind(std::atomic<int>& number) {
  const int fresh = kinds.fetch_add(1, std::memory_order_relaxed);
  if (fresh >= static_cast<int>(RankState::kMostKinds)) std::abort();  // which is too small
  int known = -1;
  return number.compare_exchange_strong(known, fresh, std::memory_order_relaxed) ? fresh : known;
}

}  // namespace clump::image
