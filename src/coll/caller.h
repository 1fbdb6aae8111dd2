// Which function of MPI calls a collective operation: a part of what ranks compare, and its name in errors.
#pragma once

#include <cstdint>

#include "coll/select/select.h"

namespace clump::coll {

enum class Caller : std::uint8_t {
  kOwn,  ///< the function of that name
  kAlltoallw,
  kReduceScatterBlock,
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
  // Functions that use operations for what they do.
  kFinalize,
  kCommDup,
  kCommCreate,
  kCommSplit,
  kCommDisconnect,
  kIntercommCreate,
  kIntercommMerge,
  kCartCreate,
  kGraphCreate,
  kDistGraphCreate,
  kCommSpawn,
  kCommAccept,
  kCommConnect,
  kWinMake,
  kWinFence,
  kWinFree,
  kFile,
};

/// Whether its operations are of the program: otherwise they have tags of their own, so that they meet no
/// operation of the program where messages do the work.
constexpr bool is_program(Caller caller) { return caller < Caller::kFinalize; }

/// "MPI_Comm_split"
constexpr const char* name_of(Collective collective, Caller caller, bool exclusive = false) {
  constexpr const char* kOperations[] = {
      "MPI_Barrier",  "MPI_Bcast",     "MPI_Reduce",         "MPI_Allreduce", "MPI_Gather",
      "MPI_Gatherv",  "MPI_Scatter",   "MPI_Scatterv",       "MPI_Allgather", "MPI_Allgatherv",
      "MPI_Alltoall", "MPI_Alltoallv", "MPI_Reduce_scatter", "MPI_Scan",      "a neighbourhood collective"};
  constexpr const char* kCallers[] = {"",
                                      "MPI_Alltoallw",
                                      "MPI_Reduce_scatter_block",
                                      "MPI_Neighbor_allgather",
                                      "MPI_Neighbor_allgatherv",
                                      "MPI_Neighbor_alltoall",
                                      "MPI_Neighbor_alltoallv",
                                      "MPI_Neighbor_alltoallw",
                                      "MPI_Finalize",
                                      "MPI_Comm_dup",
                                      "MPI_Comm_create",
                                      "MPI_Comm_split",
                                      "MPI_Comm_disconnect",
                                      "MPI_Intercomm_create",
                                      "MPI_Intercomm_merge",
                                      "MPI_Cart_create",
                                      "MPI_Graph_create",
                                      "MPI_Dist_graph_create",
                                      "MPI_Comm_spawn",
                                      "MPI_Comm_accept",
                                      "MPI_Comm_connect",
                                      "a function that makes a window",
                                      "MPI_Win_fence",
                                      "MPI_Win_free",
                                      "a function of files"};
  static_assert(sizeof kOperations / sizeof *kOperations == kCollectives);
  static_assert(sizeof kCallers / sizeof *kCallers == static_cast<int>(Caller::kFile) + 1);
  if (caller != Caller::kOwn) return kCallers[static_cast<int>(caller)];
  return exclusive ? "MPI_Exscan" : kOperations[static_cast<int>(collective)];
}

}  // namespace clump::coll
