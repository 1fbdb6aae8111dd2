#include "core/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace clump::core {
namespace {

/// world_rank() and rank_of() are each other's inverse, and say "undefined" for who is not in the group.
void expect_map(const Group& group, const std::vector<int>& world_ranks) {
  ASSERT_EQ(group.size(), static_cast<int>(world_ranks.size()));
  std::vector<int> expected(64, MPI_UNDEFINED);
  for (int rank = 0; rank < group.size(); ++rank) {
    EXPECT_EQ(group.world_rank(rank), world_ranks[rank]);
    expected[world_ranks[rank]] = rank;
  }
  for (int world = 0; world < 64; ++world)
    EXPECT_EQ(group.rank_of(world), expected[world]) << "rank of " << world;
}

base::Ref<const Group> group_of(std::vector<int> world_ranks) {
  return Group::of(std::move(world_ranks), Origin::kWorld);
}

TEST(Group, IsARegularOrAnIrregularMap) {
  expect_map(*Group::regular(5), {0, 1, 2, 3, 4});
  expect_map(*Group::regular(4, 3, 5), {3, 8, 13, 18});
  expect_map(*Group::regular(4, 12, -4), {12, 8, 4, 0});
  expect_map(*Group::regular(1, 7), {7});
  for (const std::vector<int>& map :
       {std::vector<int>{}, {9}, {4, 2}, {2, 4}, {1, 3, 5, 7}, {7, 5, 3}, {0, 1, 3}, {5, 0, 63, 2, 1}})
    expect_map(*group_of(map), map);
}

TEST(Group, EmptyHasNoMembers) {
  for (const auto& empty : {Group::regular(0), group_of({}), Group::regular(0, 0, 0)}) {
    EXPECT_EQ(empty->size(), 0);
    EXPECT_EQ(empty->rank_of(0), MPI_UNDEFINED);
  }
  EXPECT_TRUE(Group::regular(0)->same_order(*group_of({})));
}

TEST(Group, ComparesOrderAndMembers) {
  const auto regular = Group::regular(3, 1, 2);
  EXPECT_TRUE(regular->same_order(*regular));
  EXPECT_TRUE(regular->same_order(*group_of({1, 3, 5})));
  EXPECT_FALSE(regular->same_order(*group_of({5, 3, 1})));
  EXPECT_TRUE(regular->same_members(*group_of({5, 3, 1})));
  EXPECT_TRUE(group_of({3, 1, 5})->same_members(*regular));
  EXPECT_FALSE(regular->same_members(*group_of({1, 3, 4})));
  EXPECT_FALSE(regular->same_members(*group_of({1, 3})));
  EXPECT_FALSE(group_of({1, 3})->same_order(*regular));
}

TEST(Group, RegularMapsTakeConstantSpace) {
  // A group of a million ranks, made often: it would not fit if each kept a list.
  std::vector<base::Ref<const Group>> groups;
  for (int i = 0; i < 100'000; ++i) groups.push_back(Group::regular(1'000'000, i));
  EXPECT_EQ(groups.back()->rank_of(1'000'000), 1'000'000 - 99'999);
  EXPECT_EQ(groups.back()->world_rank(999'999), 999'999 + 99'999);
}

/// The map of `n` ranks that begins with world rank `first`.
std::vector<int> blocks(int n, int first, int block, int pitch, int stride) {
  std::vector<int> map(static_cast<std::size_t>(n));
  for (int rank = 0; rank < n; ++rank)
    map[static_cast<std::size_t>(rank)] = first + rank / block * pitch + rank % block * stride;
  return map;
}

TEST(Group, OfBlocksTakesConstantSpace) {
  for (const auto& map : {blocks(12, 0, 4, 16, 1),    // the first four ranks of every 16
                          blocks(10, 1, 4, 16, 1),    // the last block is not full
                          blocks(9, 60, 3, -20, -2),  // backwards, and backwards in each block
                          blocks(9, 4, 3, 20, -2),    // backwards in each block only
                          blocks(9, 44, 3, -20, 2),   // backwards over the blocks only
                          blocks(12, 0, 3, 1, 16),    // the columns of a grid, one after the other
                          blocks(12, 3, 3, -1, 16),   // from the last column on
                          blocks(12, 32, 3, 1, -16),  // each column from below
                          blocks(11, 46, 3, -2, -20)}) {
    const auto group = group_of(map);
    expect_map(*group, map);
    EXPECT_EQ(group->bytes(), 0u);
  }
}

TEST(Group, WhatIsNoRegularMapIsAList) {
  const auto expect_bytes = [](const std::vector<int>& map, std::size_t each) {
    const auto group = group_of(map);
    expect_map(*group, map);
    EXPECT_EQ(group->bytes(), each * map.size());
  };
  expect_bytes({0, 1, 3}, 0);  // two blocks, the second of one rank
  expect_bytes({0, 1, 3, 7}, 4);
  expect_bytes({0, 1, 3, 2}, 8);
  expect_bytes({0, 2, 1, 3, 2 + 2, 5, 60}, 8);
  expect_bytes({0, 4, 3, 7, 6, 10}, 8);  // blocks that reach into each other
}

TEST(Group, KeepsAnyPermutation) {
  std::vector<int> map = {0, 1, 2, 3, 4, 5};
  do expect_map(*group_of(map), map);
  while (std::next_permutation(map.begin(), map.end()));
}

TEST(Group, PartsHaveItsOrigin) {
  const Origin origin{7};
  const auto whole = Group::regular(8, 0, 2, origin);
  const std::vector<int> ranks = {3, 0, 5};
  expect_map(*whole->part(ranks), {6, 0, 10});
  EXPECT_EQ(whole->part(ranks)->origin(), origin);
  expect_map(*whole->first(3), {0, 2, 4});
  EXPECT_EQ(whole->first(3)->origin(), origin);
  EXPECT_EQ(whole->first(8).get(), whole.get());
}

TEST(Group, LivesAsLongAsSomebodyHoldsIt) {
  auto first = group_of({2, 0, 1});
  const auto second = first;
  first = {};
  expect_map(*second, {2, 0, 1});
}

}  // namespace
}  // namespace clump::core
