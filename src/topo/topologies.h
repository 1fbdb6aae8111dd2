// The three kinds of virtual topologies (MPI-5.0 chapter 8), each as one rank sees it. Immutable: any thread.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/topology.h"
#include "topo/grid.h"

namespace clump::topo {

/// A grid. The neighbours are those one step down and one step up, for each dimension in turn. What goes up
/// comes from below at the other end, also where both neighbours are the same rank or the caller (a periodic
/// dimension of size 2 or 1).
class Cartesian final : public core::Topology {
 public:
  Cartesian(Grid grid, int rank);
  int kind() const override { return MPI_CART; }
  const Grid& grid() const { return grid_; }

 private:
  const Grid grid_;
};

/// A graph that every rank knows as a whole: 4 bytes for each node and each edge.
class Graph final : public core::Topology {
 public:
  /// The edges of node i go to edges[index[i - 1]] until before edges[index[i]], all of them nodes.
  Graph(std::vector<int> index, std::vector<int> edges, int rank);
  int kind() const override { return MPI_GRAPH; }

  std::span<const int> index() const { return index_; }
  std::span<const int> edges() const { return edges_; }
  /// 0 <= node < index().size().
  std::span<const int> neighbours_of(int node) const { return neighbours_of(index_, edges_, node); }
  static std::span<const int> neighbours_of(std::span<const int> index, std::span<const int> edges, int node);

 private:
  const std::vector<int> index_, edges_;
};

/// The edges of one rank on one side, with their weights. `weights` is empty where the graph has none.
struct Edges {
  std::vector<int> ranks;
  std::vector<int> weights;
};

/// A distributed graph, of which each rank knows its own edges: 8 bytes for each of them, and 4 for its
/// weight.
class DistGraph final : public core::Topology {
 public:
  DistGraph(Edges in, Edges out, bool weighted);
  int kind() const override { return MPI_DIST_GRAPH; }

  bool weighted() const { return weighted_; }
  /// As many as there are sources() and destinations(), or none where the graph is not weighted.
  std::span<const int> source_weights() const { return source_weights_; }
  std::span<const int> destination_weights() const { return destination_weights_; }

 private:
  const bool weighted_;
  const std::vector<int> source_weights_, destination_weights_;
};

}  // namespace clump::topo
