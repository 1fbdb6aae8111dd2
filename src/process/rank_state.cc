#include "process/rank_state.h"

#include <cstdlib>
#include <mutex>
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

constinit ForkMutex numbering;
constinit int kinds = 0;  ///< guarded by `numbering`

}  // namespace

StateOfRank make_state(const fiber::Identity* rank) {
  alignas(Whole) static constinit std::byte of_process[sizeof(Whole)] = {};
  Whole* const whole = rank == nullptr ? new (of_process) Whole(nullptr) : new Whole(rank);
  return {&whole->state, whole, sizeof *whole};
}

void free_state(const StateOfRank& state) { delete static_cast<Whole*>(state.begin); }

int number_of_kind(std::atomic<int>& number) {
  const std::scoped_lock one_at_a_time(numbering);
  int mine = number.load(std::memory_order_relaxed);  // relaxed: see PerRank
  if (mine < 0) {
    mine = kinds++;
    if (mine >= static_cast<int>(RankState::kMostKinds)) std::abort();  // which is too small
    number.store(mine, std::memory_order_relaxed);
  }
  return mine;
}

}  // namespace clump::image
