#include "arguments.h"

namespace clump::fortran {

namespace {

/// Whether questions about a communicator can be asked: one about a null handle is an error in the name of
/// the question.
bool is_there(MPI_Comm comm) { return comm != MPI_Comm{} && comm != MPI_COMM_NULL; }

}  // namespace

int peers_of(MPI_Comm comm) {
  int is_inter = 0;
  int size = 0;
  if (!is_there(comm) || PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return 0;
  const int code = is_inter != 0 ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  return code == MPI_SUCCESS ? size : 0;
}

int neighbours_of(MPI_Comm comm, bool are_sent) {
  int topology = MPI_UNDEFINED;
  if (!is_there(comm) || PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return 0;
  int in = 0;
  int out = 0;
  int is_weighted = 0;
  int rank = 0;
  switch (topology) {
    case MPI_CART:
      return PMPI_Cartdim_get(comm, &in) == MPI_SUCCESS ? 2 * in : 0;
    case MPI_GRAPH:
      if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return 0;
      return PMPI_Graph_neighbors_count(comm, rank, &in) == MPI_SUCCESS ? in : 0;
    case MPI_DIST_GRAPH:
      if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted) != MPI_SUCCESS) return 0;
      return are_sent ? out : in;
    default:
      return 0;
  }
}

bool is_root(MPI_Comm comm, int root) {
  if (root == MPI_ROOT) return true;
  int is_inter = 0;
  int rank = MPI_PROC_NULL;
  if (root < 0 || !is_there(comm) || PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter != 0)
    return false;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

int dimensions_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  int dimensions = 0;
  if (!is_there(comm) || PMPI_Topo_test(comm, &topology) != MPI_SUCCESS || topology != MPI_CART) return 0;
  return PMPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS ? dimensions : 0;
}

}  // namespace clump::fortran
