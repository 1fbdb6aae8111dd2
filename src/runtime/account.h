// What there is to be told about the ranks of this process when somebody asks what all wait for.
#pragma once

#include "core/rank.h"
#include "pmi/waits.h"

namespace clump {

/// By a thread that is none of a rank's, at any time. While it looks, no thread of a rank that waits goes on.
pmi::Account take_account(core::World& world);

/// Changes whenever a message of a rank here has moved, or a collective has begun.
std::uint64_t progress_of(const core::World& world);
/// Whether each rank here has called MPI since this was asked last, or waits there. By the same thread.
bool all_in_mpi(core::World& world);

}  // namespace clump
