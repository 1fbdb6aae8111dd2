// Messages that were taken out of matching (MPI-5.0 section 3.8.2).
#pragma once

#include "core/rank.h"
#include "p2p/p2p.h"

namespace clump::mpi {

/// Begins to receive a message that a matched probe has taken, and forgets its handle.
base::Status receive_matched(core::Rank& self, MPI_Message* handle, p2p::ReceiveOperation& receive);

}  // namespace clump::mpi
