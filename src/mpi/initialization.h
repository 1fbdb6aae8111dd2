// Who uses MPI in a rank: the World model between MPI_Init and MPI_Finalize, and sessions.
#pragma once

#include "core/rank.h"

namespace clump::mpi {

/// One more gives the rank the right to call MPI. Any thread of the rank.
void begin_use(core::Rank& self);
/// One less. With the last one goes all that the user has not freed, save what may be used without MPI.
void end_use(core::Rank& self);

/// What memory may be given to MPI (MPI-5.0 section 11.4.3): the value of the hint mpi_memory_alloc_kinds.
inline constexpr const char* kMemoryKinds = "system,mpi";

}  // namespace clump::mpi
