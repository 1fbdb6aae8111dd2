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

/// How many error codes MPI_Comm_spawn and MPI_Comm_spawn_multiple write: at every rank one for each process
/// that the root asks for. Only the root knows how many, and tells the other ranks. All ranks of `comm` call
/// it. 0 if the call will be refused at all ranks.
inline int codes_of_spawn(MPI_Comm comm, int root, int count, const int* maxprocs) {
  int is_inter = 0;
  int size = 0;
  int rank = 0;
  if (!may_be_comm(comm) || abi::Comm_test_inter()(comm, &is_inter) != MPI_SUCCESS || is_inter != 0) return 0;
  if (abi::Comm_size()(comm, &size) != MPI_SUCCESS || root < 0 || root >= size) return 0;
  if (abi::Comm_rank()(comm, &rank) != MPI_SUCCESS) return 0;
  std::int64_t asked = 0;
  for (int i = 0; rank == root && maxprocs != nullptr && i < count; ++i)
    asked += maxprocs[i] > 0 ? maxprocs[i] : 0;
  // Several threads of a rank alone may spawn at the same time, but not call other collectives.
  if (size > 1 && abi::Bcast()(&asked, 1, MPI_INT64_T, root, comm) != MPI_SUCCESS) return 0;
  return asked < INT_MAX ? static_cast<int>(asked) : INT_MAX;
}
inline int codes_of_spawn(MPI_Comm comm, int root, int maxprocs) {
  return codes_of_spawn(comm, root, 1, &maxprocs);
}

}  // namespace clump::facade
