// How long the arrays are that a call has an element of for each process, and at which ranks there are
// arrays.
#pragma once

#include "abi_library.h"

namespace clump::facade {

/// Whether functions can be asked about it. They would raise the error of a communicator that is none in the
/// name of another function than the program's.
inline bool may_be_comm(MPI_Comm comm) {
  return reinterpret_cast<std::intptr_t>(comm) >> 32 == 0 && comm != nullptr && comm != MPI_COMM_NULL;
}

/// Of MPI_Alltoallw and its kin. 0 if the communicator is none: the call will say so.
inline int peers_of(MPI_Comm comm) {
  int is_inter = 0;
  int size = 0;
  if (!may_be_comm(comm)) return 0;
  if (abi::Comm_test_inter()(comm, &is_inter) != MPI_SUCCESS) return 0;
  const int code = is_inter != 0 ? abi::Comm_remote_size()(comm, &size) : abi::Comm_size()(comm, &size);
  return code == MPI_SUCCESS ? size : 0;
}

/// Of MPI_Neighbor_alltoallw and its kin: neighbours that are sent something, or that send something.
inline int neighbours_of(MPI_Comm comm, bool are_sent) {
  if (!may_be_comm(comm)) return 0;
  int topology = MPI_UNDEFINED;
  if (abi::Topo_test()(comm, &topology) != MPI_SUCCESS) return 0;
  int in = 0;
  int out = 0;
  int is_weighted = 0;
  int rank = 0;
  switch (topology) {
    case MPI_CART:
      return abi::Cartdim_get()(comm, &in) == MPI_SUCCESS ? 2 * in : 0;
    case MPI_GRAPH:
      if (abi::Comm_rank()(comm, &rank) != MPI_SUCCESS) return 0;
      return abi::Graph_neighbors_count()(comm, rank, &in) == MPI_SUCCESS ? in : 0;
    case MPI_DIST_GRAPH:
      if (abi::Dist_graph_neighbors_count()(comm, &in, &out, &is_weighted) != MPI_SUCCESS) return 0;
      return are_sent ? out : in;
    default:
      return 0;
  }
}

/// Whether the caller is the root of a call that only intracommunicators have: only there is an array that
/// means something at the root alone. If the communicator is none, the call will say so.
inline bool is_root(MPI_Comm comm, int root) {
  int rank = MPI_PROC_NULL;
  return may_be_comm(comm) && abi::Comm_rank()(comm, &rank) == MPI_SUCCESS && rank == root;
}

}  // namespace clump::facade
