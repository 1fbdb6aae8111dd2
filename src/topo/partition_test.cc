// Graphs on hosts and workers, by way of Scotch. Skipped where that is not installed.
#include "topo/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "topo/scotch.h"

namespace clump::topo {
namespace {

bool has_scotch() {
  const std::vector<Link> pair{{0, 1}};
  std::vector<int> part_of(2), sizes{1, 1};
  return partition_by_scotch(Links(2, pair), sizes, part_of).ok();
}

/// Cliques, with a ring of weak links through them. Place i is in clique `clique_of[i]`.
Links cliques(const std::vector<int>& clique_of, std::int64_t strong) {
  std::vector<Link> links;
  const int places = static_cast<int>(clique_of.size());
  for (int one = 0; one < places; ++one) {
    links.push_back({one, (one + 1) % places});
    for (int other = 0; other < one; ++other)
      if (clique_of[static_cast<std::size_t>(one)] == clique_of[static_cast<std::size_t>(other)])
        links.push_back({one, other, strong});
  }
  return {places, links};
}

std::vector<int> sizes_of(const std::vector<int>& part_of) {
  std::vector<int> sizes(static_cast<std::size_t>(std::ranges::max(part_of)) + 1);
  for (const int part : part_of) ++sizes[static_cast<std::size_t>(part)];
  return sizes;
}

TEST(Partition, FindsCliques) {
  if (!has_scotch()) GTEST_SKIP() << "no Scotch";
  std::vector<int> clique_of, part_of;
  for (int i = 0; i < 64; ++i) {
    clique_of.push_back(i * 5 % 8);
    part_of.push_back(i / 8);
  }
  const Links links = cliques(clique_of, 10);
  ASSERT_TRUE(partition(links, part_of).ok());
  EXPECT_EQ(sizes_of(part_of), std::vector<int>(8, 8));
  EXPECT_EQ(links.cut(part_of), 64) << "only the ring";
}

TEST(Partition, IsTheSameEachTime) {
  if (!has_scotch()) GTEST_SKIP() << "no Scotch";
  std::mt19937 random(11);
  std::vector<Link> drawn;
  for (int left = 0; left < 4000; ++left)
    drawn.push_back({static_cast<int>(random() % 500), static_cast<int>(random() % 500)});
  std::vector<int> once, before;
  for (int place = 0; place < 500; ++place) before.push_back(place % 20);
  for (int round = 0; round < 4; ++round) {
    std::vector<int> again = before;
    ASSERT_TRUE(partition(Links(500, drawn), again).ok());
    if (round == 0) once = again;
    EXPECT_EQ(again, once);
  }
  EXPECT_NE(once, before);
}

TEST(Partition, KeepsUnevenSizes) {
  if (!has_scotch()) GTEST_SKIP() << "no Scotch";
  const std::vector<int> clique_of{2, 2, 0, 1, 2, 1, 2};
  std::vector<int> part_of{0, 1, 1, 2, 2, 2, 2};
  const Links links = cliques(clique_of, 10);
  ASSERT_TRUE(partition(links, part_of).ok());
  EXPECT_EQ(sizes_of(part_of), (std::vector{1, 2, 4}));
  EXPECT_EQ(part_of, clique_of);
}

TEST(Partition, IsNeverWorseAndKeepsSizes) {
  if (!has_scotch()) GTEST_SKIP() << "no Scotch";
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int places = 2 + static_cast<int>(random() % 60), parts = 2 + static_cast<int>(random() % 6);
    std::vector<Link> drawn;
    for (unsigned left = random() % 200; left > 0; --left)
      drawn.push_back({static_cast<int>(random() % places), static_cast<int>(random() % places),
                       round % 3 == 0 ? std::int64_t{1} << (random() % 40) : std::int64_t(random() % 5)});
    std::vector<int> before;
    for (int place = 0; place < places; ++place)
      before.push_back(place < parts ? place : static_cast<int>(random() % parts));
    if (places < parts) continue;
    std::vector<int> after = before;
    const Links links(places, drawn);
    ASSERT_TRUE(partition(links, after).ok());
    EXPECT_EQ(sizes_of(after), sizes_of(before));
    EXPECT_LE(links.cut(after), links.cut(before));
  }
}

TEST(Partition, HasTwoLevels) {
  if (!has_scotch()) GTEST_SKIP() << "no Scotch";
  // Eight cliques of four, and strong enough links that pairs of these belong onto one host. Hosts have two
  // workers with four ranks each.
  std::vector<int> hosts, workers;
  std::vector<Link> links;
  const auto clique = [](int i) { return i % 8; };
  const auto pair = [](int i) { return i % 8 / 2; };
  for (int one = 0; one < 32; ++one) {
    hosts.push_back(one / 8);
    workers.push_back(one / 4);
    for (int other = 0; other < one; ++other)
      if (pair(one) == pair(other)) links.push_back({one, other, clique(one) == clique(other) ? 100 : 10});
  }
  std::vector<int> ranks;
  ASSERT_TRUE(place_on_hosts(Links(32, links), hosts, workers, ranks).ok());
  ASSERT_EQ(ranks.size(), 32u);
  std::vector<int> all = ranks;
  std::ranges::sort(all);
  for (int rank = 0; rank < 32; ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], rank);
  for (int one = 0; one < 32; ++one)
    for (int other = 0; other < 32; ++other) {
      const int here = ranks[static_cast<std::size_t>(one)], there = ranks[static_cast<std::size_t>(other)];
      if (pair(one) == pair(other)) {
        EXPECT_EQ(here / 8, there / 8);
      }
      if (clique(one) == clique(other)) {
        EXPECT_EQ(here / 4, there / 4);
      }
    }
}

TEST(Partition, LeavesWhatIsBestAsItIs) {
  if (!has_scotch()) GTEST_SKIP() << "no Scotch";
  const std::vector<int> hosts{0, 0, 0, 1, 1, 1}, workers{0, 0, 1, 2, 2, 3};
  const std::vector<Link> triangles{{0, 1, 2}, {1, 2}, {2, 0}, {3, 4, 2}, {4, 5}, {5, 3}};
  std::vector<int> ranks;
  ASSERT_TRUE(place_on_hosts(Links(6, triangles), hosts, workers, ranks).ok());
  EXPECT_TRUE(ranks.empty());
  ASSERT_TRUE(place_on_hosts(Links(6, {}), hosts, workers, ranks).ok()) << "no links";
  EXPECT_TRUE(ranks.empty());
}

}  // namespace
}  // namespace clump::topo
