// The end of a buffer that the user has not detached (MPI-5.0 section 3.6).
#pragma once

#include "core/send_buffer.h"

namespace clump::mpi {

/// Detaches what is attached, if anything is: blocks until its messages have left it.
void end_buffer(core::SendBufferSlot& slot);

}  // namespace clump::mpi
