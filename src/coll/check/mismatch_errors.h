// The errors of ranks that call different operations.
#pragma once

#include "base/status.h"
#include "coll/select/select.h"

namespace clump::coll {

inline constexpr const char* kAdvice =
    "the counts and datatypes that the ranks of a collective operation pass must describe the same data";

inline base::Status different_calls(int rank, Collective mine, int other, Collective others) {
  return base::fail(MPI_ERR_OTHER,
                    "rank {} calls {} where rank {} calls {}: all ranks of a communicator must call its "
                    "collective operations in the same order",
                    rank, name_of(mine), other, name_of(others));
}

inline base::Status different_broadcasts(int rank, std::uint64_t mine, int other, std::uint64_t others) {
  return base::fail(MPI_ERR_OTHER,
                    "rank {} has called broadcast {} times before this where rank {} has called it {} times: "
                    "all ranks of a communicator must call its collective operations in the same order",
                    rank, mine, other, others);
}

inline base::Status different_roots(int rank, int mine, int other, int others) {
  return base::fail(MPI_ERR_ROOT, "rank {} says that rank {} is the root where rank {} says rank {}", rank,
                    mine, other, others);
}

}  // namespace clump::coll
