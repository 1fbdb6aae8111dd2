#include "coll/select/choose.h"

#include "core/rank.h"

namespace clump::coll {

static_assert(core::CollectiveChoices::kCollectives > static_cast<std::size_t>(Collective::kScan));
static_assert(core::CollectiveChoices::kAlgorithms >= kAlgorithms);

Algorithm choose(const core::Comm& comm, Collective collective, const Situation& situation) {
  const auto& choices = comm.owner.collectives;
  const auto which = static_cast<std::size_t>(collective);
  // Ranks of other jobs may have been told other things.
  if (comm.crosses_jobs()) [[unlikely]]
    return select_shipped(collective, situation);
  std::uint8_t wanted = comm.wishes ? comm.wishes->wanted[which] : 0;
  if (wanted == 0) wanted = choices.wanted[which].load(std::memory_order_relaxed);
  if (wanted == 0) [[likely]]
    return select(collective, situation);
  return select(collective, situation, static_cast<Algorithm>(wanted - 1));
}

bool needs_one_order(const core::Comm& comm, const Reduction& reduction, const datatype::Datatype& type) {
  const bool wanted = comm.owner.collectives.reproducible.load(std::memory_order_relaxed) ||
                      (comm.wishes && comm.wishes->reproducible);
  if (!wanted) [[likely]]
    return false;
  return !reduction.op->is_predefined() || !type.is_basic() || has_floats(type);
}

bool has_floats(const datatype::Datatype& type) {
  switch (type.kind()) {
    case datatype::Class::kFloating:
    case datatype::Class::kComplex:
    case datatype::Class::kPair:  // its numbers may be floating
      return true;
    default:
      return false;
  }
}

void note(const core::Comm& comm, Collective collective, Algorithm algorithm, Count bytes) {
  core::Rank& rank = comm.owner;
  rank.collectives.begun[static_cast<std::size_t>(collective)].add();
  rank.collectives.used[static_cast<std::size_t>(algorithm)].add();
  // acquire: pairs with the release of the thread that sets the observer.
  if (core::ToolObserver* const observer = rank.observer.load(std::memory_order_acquire)) [[unlikely]]
    observer->collective_begins(static_cast<std::uint32_t>(comm.context), static_cast<int>(collective),
                                static_cast<int>(algorithm), bytes);
}

}  // namespace clump::coll
