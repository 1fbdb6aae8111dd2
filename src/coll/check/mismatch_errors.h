// The errors of ranks that call different operations.
#pragma once

#include "base/status.h"

namespace clump::coll {

inline constexpr const char* kAdvice =
    "the counts and datatypes that the ranks of a collective operation pass must describe the same data";

/// The names of the functions that two ranks call.
inline base::Status different_calls(int rank, const char* mine, int other, const char* others) {
  return base::fail(MPI_ERR_OTHER,
                    "rank {} calls {} where rank {} calls {}: all ranks of a communicator must call its "
                    "collective operations in the same order",
                    rank, mine, other, others);
}

inline base::Status different_roots(int rank, int mine, int other, int others) {
  return base::fail(MPI_ERR_ROOT, "rank {} says that rank {} is the root where rank {} says rank {}", rank,
                    mine, other, others);
}

}  // namespace clump::coll
