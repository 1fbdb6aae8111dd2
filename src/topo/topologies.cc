#include "topo/topologies.h"

namespace clump::topo {

namespace {

/// The neighbours on a grid: those one step down are blocks 0, 2, ..., those one step up 1, 3, ... Where both
/// of a dimension are the same rank, what goes up must meet the receive from below, so sources and
/// destinations are listed in opposite directions.
core::Neighbours grid_neighbours(const Grid& grid, int rank, int first_step) {
  const int dimensions = static_cast<int>(grid.dimensions().size());
  core::Neighbours found{2 * dimensions, {}};
  for (int dimension = 0; dimension < dimensions; ++dimension)
    for (const int step : {first_step, -first_step}) {
      const int neighbour = grid.neighbour(rank, dimension, step);
      if (neighbour != MPI_PROC_NULL)
        found.in_order.push_back({neighbour, 2 * dimension + (step > 0 ? 1 : 0)});
    }
  return found;
}

/// Neighbours that are listed as their blocks are.
core::Neighbours in_order_of_blocks(std::span<const int> ranks) {
  core::Neighbours listed{static_cast<int>(ranks.size()), {}};
  listed.in_order.reserve(ranks.size());
  for (int i = 0; i < listed.blocks; ++i) listed.in_order.push_back({ranks[i], i});
  return listed;
}

}  // namespace

Cartesian::Cartesian(Grid grid, int rank)
    : Topology(grid_neighbours(grid, rank, -1), grid_neighbours(grid, rank, 1)), grid_(std::move(grid)) {}

Graph::Graph(std::vector<int> index, std::vector<int> edges, int rank)
    : Topology(in_order_of_blocks(neighbours_of(index, edges, rank)),
               in_order_of_blocks(neighbours_of(index, edges, rank))),
      index_(std::move(index)),
      edges_(std::move(edges)) {}

std::span<const int> Graph::neighbours_of(std::span<const int> index, std::span<const int> edges, int node) {
  const int first = node == 0 ? 0 : index[node - 1];
  return edges.subspan(first, index[node] - first);
}

DistGraph::DistGraph(Edges in, Edges out, bool weighted)
    : Topology(in_order_of_blocks(in.ranks), in_order_of_blocks(out.ranks)),
      weighted_(weighted),
      source_weights_(std::move(in.weights)),
      destination_weights_(std::move(out.weights)) {}

}  // namespace clump::topo
