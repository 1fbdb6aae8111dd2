// What other chapters' bodies do with attributes.
#pragma once

#include "core/rank.h"

namespace clump::mpi {

/// MPI_Type_dup: calls the copy functions of the attributes of `old_type`, for `new_type`. If one fails, the
/// new type has none.
base::Status copy_type_attributes(core::Rank& self, MPI_Datatype old_type, MPI_Datatype new_type);
/// MPI_Type_free: calls the delete functions. If one fails, the type must not be freed.
base::Status delete_type_attributes(core::Rank& self, MPI_Datatype type);

}  // namespace clump::mpi
