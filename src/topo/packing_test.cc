// Grids on hosts: how many links are left between these, and that every host keeps its number of places.
#include "topo/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "topo/links.h"

namespace clump::topo {
namespace {

/// Hosts with these numbers of ranks, one after the other.
std::vector<int> in_blocks(const std::vector<int>& sizes) {
  std::vector<int> host_of;
  for (std::size_t host = 0; host < sizes.size(); ++host)
    host_of.insert(host_of.end(), static_cast<std::size_t>(sizes[host]), static_cast<int>(host));
  return host_of;
}

std::vector<int> in_turn(int hosts, int ranks) {
  std::vector<int> host_of;
  for (int rank = 0; rank < ranks; ++rank) host_of.push_back(rank % hosts);
  return host_of;
}

/// Links between hosts once the grid is packed.
std::int64_t between_hosts(const Grid& grid, const std::vector<int>& host_of) {
  const std::vector<int> packed = pack(grid, host_of);
  std::vector<int> before = host_of, after = packed;
  std::ranges::sort(before);
  std::ranges::sort(after);
  EXPECT_EQ(before, after) << "hosts have as many places as before";
  const Links links = links_of(grid);
  EXPECT_LE(links.cut(packed), links.cut(host_of));
  return links.cut(packed);
}

// The figure 1 of the hybrid-programming paper that this is about: 7 rows of 8, on nodes with 4 processors.
TEST(Packing, TheGridOfThePaper) {
  const std::vector<int> figure{0,  1,  4,  5,  8,  9,  12, 13, 2,  3,  6,  7,  10, 11, 14, 15, 16, 17, 20,
                                21, 24, 25, 28, 29, 18, 19, 22, 23, 26, 27, 30, 31, 32, 33, 36, 37, 40, 41,
                                44, 45, 34, 48, 49, 38, 42, 52, 53, 46, 35, 50, 51, 39, 43, 54, 55, 47};
  std::vector<int> node_of;
  for (const int rank : figure) node_of.push_back(rank / 4);
  const Grid grid({{7, false}, {8, false}});
  EXPECT_EQ(links_of(grid).cut(node_of), 45);
  const std::vector<int> sequential = in_blocks(std::vector<int>(14, 4));
  EXPECT_EQ(links_of(grid).cut(sequential), 55);
  EXPECT_EQ(between_hosts(grid, sequential), 43);
  EXPECT_EQ(between_hosts(grid, in_turn(14, 56)), 43);
  EXPECT_EQ(between_hosts(Grid({{8, false}, {7, false}}), sequential), 43);
}

TEST(Packing, BoxesThatFillTheGrid) {
  EXPECT_EQ(between_hosts(Grid({{4, false}, {4, false}}), in_blocks({4, 4, 4, 4})), 8);
  EXPECT_EQ(between_hosts(Grid({{4, true}, {4, true}}), in_turn(4, 16)), 16);
  EXPECT_EQ(between_hosts(Grid({{8, false}, {8, false}, {8, false}}), in_turn(64, 512)), 576);
  EXPECT_EQ(between_hosts(Grid({{12, false}, {12, false}}), in_turn(12, 144)), 60) << "3 x 4 each";
  EXPECT_EQ(between_hosts(Grid({{16, true}}), in_turn(4, 16)), 4);
  EXPECT_EQ(between_hosts(Grid({{2, true}, {3, true}, {4, true}}), in_turn(3, 24)), 24);
}

TEST(Packing, UnevenHosts) {
  EXPECT_EQ(between_hosts(Grid({{7, false}}), {0, 1, 2, 1, 2, 2, 2}), 2);
  EXPECT_LE(between_hosts(Grid({{3, false}, {4, false}}), in_blocks({3, 4, 5})), 7);
  EXPECT_LE(between_hosts(Grid({{10, false}, {10, false}}), in_blocks({40, 30, 20, 10})), 30);
}

TEST(Packing, NeverMakesItWorse) {
  for (int rows = 1; rows <= 9; ++rows)
    for (int columns = 1; columns <= 9; ++columns)
      for (const bool around : {false, true})
        for (int hosts = 2; hosts <= 5 && hosts <= rows * columns; ++hosts) {
          const Grid grid({{rows, around}, {columns, false}});
          between_hosts(grid, in_turn(hosts, grid.places()));
          std::vector<int> uneven;
          for (int place = 0; place < grid.places(); ++place) uneven.push_back(place * place % hosts);
          between_hosts(grid, uneven);
        }
  const Grid best({{4, false}, {3, false}});
  EXPECT_EQ(pack(best, in_blocks({3, 3, 3, 3})), in_blocks({3, 3, 3, 3})) << "what is best stays as it is";
  EXPECT_EQ(pack(Grid({}), std::vector{0}), std::vector{0});
}

TEST(Packing, SortsByHalves) {
  const Grid grid({{4, false}, {4, false}});
  std::vector<int> places(16);
  std::iota(places.begin(), places.end(), 0);
  sort_by_halves(grid, places);
  EXPECT_EQ(places, (std::vector{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
}

TEST(Links, ImproveBySwaps) {
  // Two squares with a link between them, at first one of each in the wrong half.
  const std::vector<Link> squares{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5},
                                  {5, 6}, {6, 7}, {7, 4}, {3, 4}, {5, 5}};
  const Links links(8, squares);
  std::vector<int> part_of{0, 0, 0, 1, 0, 1, 1, 1};
  EXPECT_EQ(links.cut(part_of), 5);
  improve(links, part_of);
  EXPECT_EQ(part_of, (std::vector{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(links.cut(part_of), 1);
}

}  // namespace
}  // namespace clump::topo
