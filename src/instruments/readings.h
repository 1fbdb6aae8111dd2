// What the meters show right now.
#pragma once

#include <cstdint>

#include "core/group.h"
#include "core/rank.h"
#include "instruments/catalogue.h"

namespace clump::instruments {

/// What a meter looks at of the communicator that it is bound to, which may end before it.
struct Bound {
  std::uint32_t context = 0;
  base::Ref<const core::Group> peers;
};

/// How many values a meter has.
int values_of(const Meter& meter, const Bound& bound);
/// Reads them, at `rank`. Not for marks, which a EventDispatcher has. Any thread.
void read(const core::Rank& rank, const Meter& meter, const Bound& bound, std::uint64_t* values);

}  // namespace clump::instruments
