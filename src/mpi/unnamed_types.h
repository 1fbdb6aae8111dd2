// Predefined types without a name (MPI-5.0 sections 6.9.4 and 19.1.9): who asks for one again gets the same
// handle, and nobody frees it.
#pragma once

#include "base/types.h"
#include "datatype/datatype.h"

namespace clump::core {
class Rank;
}

namespace clump::mpi {

/// The rank's handle of the type with this recipe, which is `like` under another origin; it is made when it
/// is first asked for. Any thread.
MPI_Datatype unnamed_type(core::Rank& self, const datatype::Datatype& like, datatype::Recipe recipe);
/// The same for the pair of two predefined types.
MPI_Datatype unnamed_pair(core::Rank& self, const datatype::Datatype& value, const datatype::Datatype& index);
/// The handle of a type that came from one of these, of this rank.
MPI_Datatype handle_of_unnamed(core::Rank& self, const datatype::Datatype& type);

}  // namespace clump::mpi
