// What this layer needs of src/process, which stands above it in the same library: contracts alone.
#pragma once

#include <cstddef>
#include <string_view>

#include "fiber/identity.h"

namespace clump::image {

/// What src/process keeps for a rank: opaque here (process/rank_state.h).
struct RankState;
/// Where it lies, with what belongs to it.
struct StateOfRank {
  RankState* state;
  void* begin;
  std::size_t bytes;
};
/// For a rank without an identity, which there is once, they lie in static memory. process/rank_state.cc.
StateOfRank make_state(const fiber::Identity* rank);
/// Of a rank with an identity: the image without one lies in static memory and is never destroyed.
void free_state(const StateOfRank& state);

/// Ends the job if a process has other ranks: a library of the calling rank has called `function`, which
/// needs a process for each rank. `reason`: as process_only.h has it. process/refused.cc.
void refuse_call_of_library(std::string_view function, std::string_view reason);

/// Gives a descriptor that lives as long as the process a large number, so that programs that expect small
/// ones do not come across it.
int move_up(int descriptor);

}  // namespace clump::image
