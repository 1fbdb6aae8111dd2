#include "core/group.h"

#include <gtest/gtest.h>

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

TEST(Group, LivesAsLongAsSomebodyHoldsIt) {
  auto first = group_of({2, 0, 1});
  const auto second = first;
  first = {};
  expect_map(*second, {2, 0, 1});
}

}  // namespace
}  // namespace clump::core
