// What --check notes about requests: to be told at MPI_Finalize (check/left_over.h).
#pragma once

#include <span>

#include "core/rank.h"

namespace clump::mpi::checked {

/// A call that completes operations is given these requests. One that is persistent and was never started is
/// as good as none (MPI-5.0 section 3.9), so this is wrong only if it is never started.
[[gnu::cold]] void note_waited_for(const core::Rank& self, std::span<const MPI_Request> handles);

/// The program frees a request, by the current call. What it has received is the program's from here on.
[[gnu::cold]] void look_at_freed(core::Rank& self, core::Request& request);

/// That a persistent request was waited for, and was started neither before nor afterwards.
core::Remark never_started(const core::Rank& self, const core::Request& request);

}  // namespace clump::mpi::checked
