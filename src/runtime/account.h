// The report about the ranks of this process that mpiexec asks for when it wants to know what all ranks wait
// for.
#pragma once

#include "core/rank.h"
#include "pmi/waits.h"

namespace clump {

/// Makes the report. At any time, by a thread that belongs to no rank. Meanwhile no thread of a rank that
/// waits goes on.
pmi::Account take_account(core::World& world);

/// A number that changes whenever a message of a rank here has moved, or a collective, or an access to a
/// window or a file, has begun, or a rank has completed a generalised request.
std::uint64_t progress_of(const core::World& world);
/// Whether each rank here has tested or probed since the last call of this function, or waits in MPI while
/// none of its threads computes; and no file is being read or written. Always by the same thread.
bool all_in_mpi(core::World& world);

}  // namespace clump
