#include "topo/grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace clump::topo {
namespace {

std::vector<int> balanced(int places, int dimensions) {
  std::vector<int> sizes(dimensions, -1);
  balance(places, sizes);
  return sizes;
}

TEST(Balance, FindsTheClosestFactors) {
  using Sizes = std::vector<int>;
  EXPECT_EQ(balanced(1, 3), (Sizes{1, 1, 1}));
  EXPECT_EQ(balanced(6, 2), (Sizes{3, 2}));
  EXPECT_EQ(balanced(7, 2), (Sizes{7, 1}));
  EXPECT_EQ(balanced(12, 2), (Sizes{4, 3}));
  EXPECT_EQ(balanced(16, 3), (Sizes{4, 2, 2}));
  EXPECT_EQ(balanced(24, 3), (Sizes{4, 3, 2}));
  EXPECT_EQ(balanced(72, 2),
            (Sizes{9, 8}));  // where handing out prime factors, the largest first, ends with 12 * 6
  EXPECT_EQ(balanced(1000, 3), (Sizes{10, 10, 10}));
  EXPECT_EQ(balanced(1 << 30, 10), Sizes(10, 8));
  EXPECT_EQ(balanced(2147483647, 3), (Sizes{2147483647, 1, 1}));
}

TEST(Balance, IsAFactorisationInDescendingOrder) {
  for (int places = 1; places <= 600; ++places) {
    for (int dimensions = 1; dimensions <= 5; ++dimensions) {
      const std::vector<int> sizes = balanced(places, dimensions);
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>()), places);
      EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
    }
  }
}

/// All divisions into `dimensions` factors, the largest first.
void divide(int places, int dimensions, std::vector<int> begin, std::vector<std::vector<int>>& found) {
  if (dimensions == 0) {
    if (places == 1) found.push_back(begin);
    return;
  }
  begin.push_back(0);
  const int limit = begin.size() > 1 ? begin[begin.size() - 2] : places;
  for (begin.back() = 1; begin.back() <= std::min(limit, places); ++begin.back())
    if (places % begin.back() == 0) divide(places / begin.back(), dimensions - 1, begin, found);
}

TEST(Balance, FindsTheBestOfAllDivisions) {
  for (int places = 1; places <= 300; ++places)
    for (int dimensions = 1; dimensions <= 4; ++dimensions) {
      const auto badness = [&](const std::vector<int>& sizes) {
        int faces = 0;
        for (const int size : sizes) faces += places / size;
        return std::pair(sizes.front() - sizes.back(), faces);
      };
      std::vector<std::vector<int>> all;
      divide(places, dimensions, {}, all);
      const auto best = std::min_element(
          all.begin(), all.end(), [&](const auto& a, const auto& b) { return badness(a) < badness(b); });
      EXPECT_EQ(balanced(places, dimensions), *best);
    }
  EXPECT_EQ(balanced(5040, 3), (std::vector<int>{21, 16, 15}));
  EXPECT_EQ(balanced(7488, 3), (std::vector<int>{26, 18, 16}));
}

TEST(Grid, NumbersItsPlacesTheLastDimensionFastest) {
  const Grid grid({{2, false}, {3, true}, {4, false}});
  ASSERT_EQ(grid.places(), 24);
  int rank = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k, ++rank) {
        EXPECT_EQ(grid.coordinates_of(rank), (std::vector<int>{i, j, k}));
        EXPECT_EQ(grid.rank_at(std::vector<int>{i, j, k}), rank);
        EXPECT_EQ(grid.rank_at(std::vector<int>{i, j - 3, k}), rank);
        EXPECT_EQ(grid.rank_at(std::vector<int>{i, j + 6, k}), rank);
      }
}

TEST(Grid, KnowsNeighbours) {
  const Grid grid({{3, false}, {4, true}});
  EXPECT_EQ(grid.neighbour(0, 0, -1), MPI_PROC_NULL);
  EXPECT_EQ(grid.neighbour(0, 0, 1), 4);
  EXPECT_EQ(grid.neighbour(0, 0, 3), MPI_PROC_NULL);
  EXPECT_EQ(grid.neighbour(0, 1, -1), 3);
  EXPECT_EQ(grid.neighbour(3, 1, 1), 0);
  EXPECT_EQ(grid.neighbour(1, 1, -1001), 0);
  EXPECT_EQ(grid.neighbour(3, 1, 2147483647), 2);
  EXPECT_EQ(grid.neighbour(5, 1, 0), 5);
}

TEST(Grid, WithoutDimensionsHasOnePlace) {
  const Grid point({});
  EXPECT_EQ(point.places(), 1);
  EXPECT_EQ(point.rank_at({}), 0);
  EXPECT_TRUE(point.coordinates_of(0).empty());
}

}  // namespace
}  // namespace clump::topo
