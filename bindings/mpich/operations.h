// MPIX_Op_create_x: operations with a state of the program's, and a function of the program's for the time
// when they are not used any more.
#pragma once

#include "handles.h"

namespace clump::facade {

/// The operation of a call that goes on after it has returned. Any thread of the rank.
MPI_Op standard_in_background(Op op);
/// The program has freed the operation. One that a call may still use lives until MPI_Finalize.
void operation_ends(Op op);

}  // namespace clump::facade
