#include "topo/topologies.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace clump::topo {
namespace {

using Listed = std::vector<std::pair<int, int>>;  // rank, block

Listed listed(const core::Neighbours& neighbours) {
  Listed found;
  for (const auto& [rank, block] : neighbours.in_order) found.emplace_back(rank, block);
  return found;
}

TEST(Cartesian, ListsNeighboursFromBelowAndAbove) {
  const Cartesian inner(Grid({{3, false}, {3, true}}), 4);
  EXPECT_EQ(inner.kind(), MPI_CART);
  EXPECT_EQ(inner.sources().blocks, 4);
  EXPECT_EQ(listed(inner.sources()), (Listed{{1, 0}, {7, 1}, {3, 2}, {5, 3}}));
  EXPECT_EQ(listed(inner.destinations()), (Listed{{7, 1}, {1, 0}, {5, 3}, {3, 2}}));
}

TEST(Cartesian, LeavesOutWhoDoesNotExist) {
  const Cartesian corner(Grid({{3, false}, {3, false}}), 8);
  EXPECT_EQ(corner.sources().blocks, 4);
  EXPECT_EQ(listed(corner.sources()), (Listed{{5, 0}, {7, 2}}));
  EXPECT_EQ(listed(corner.destinations()), (Listed{{5, 0}, {7, 2}}));
}

// What one rank sends up is what the other receives from below: the k-th entries for each other fit.
TEST(Cartesian, TwoRanksInARingMeetInBothDirections) {
  const Cartesian first(Grid({{2, true}}), 0), second(Grid({{2, true}}), 1);
  EXPECT_EQ(listed(first.destinations()), (Listed{{1, 1}, {1, 0}}));
  EXPECT_EQ(listed(second.sources()), (Listed{{0, 0}, {0, 1}}));
}

TEST(Cartesian, WithoutDimensionsHasNoNeighbours) {
  const Cartesian point(Grid({}), 0);
  EXPECT_EQ(point.sources().blocks, 0);
  EXPECT_TRUE(point.destinations().in_order.empty());
}

TEST(Graph, KnowsEverybodysNeighbours) {
  const Graph graph({2, 2, 5}, {1, 2, 0, 2, 0}, 2);
  EXPECT_EQ(graph.kind(), MPI_GRAPH);
  EXPECT_TRUE(graph.neighbours_of(1).empty());
  EXPECT_EQ(graph.neighbours_of(0)[1], 2);
  EXPECT_EQ(listed(graph.sources()), (Listed{{0, 0}, {2, 1}, {0, 2}}));
  EXPECT_EQ(listed(graph.destinations()), listed(graph.sources()));
}

TEST(DistGraph, KeepsTheOrderOfEdges) {
  const DistGraph graph({{4, 1, 4}, {7, 8, 9}}, {{}, {}}, true);
  EXPECT_EQ(graph.kind(), MPI_DIST_GRAPH);
  EXPECT_EQ(listed(graph.sources()), (Listed{{4, 0}, {1, 1}, {4, 2}}));
  EXPECT_EQ(graph.source_weights()[2], 9);
  EXPECT_EQ(graph.destinations().blocks, 0);
  EXPECT_TRUE(graph.destination_weights().empty());
}

}  // namespace
}  // namespace clump::topo
