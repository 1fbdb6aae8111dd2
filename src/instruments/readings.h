// What the meters show right now.
#pragma once

#include <cstdint>

#include "core/rank.h"
#include "instruments/catalogue.h"

namespace clump::instruments {

/// How many values a meter has.
int values_of(const Meter& meter);
/// Reads them, at `rank`; `context` is that of the communicator that the meter is bound to. Not for marks,
/// which a Desk has. Any thread.
void read(const core::Rank& rank, const Meter& meter, std::uint32_t context, std::uint64_t* values);

}  // namespace clump::instruments
