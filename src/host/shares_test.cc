#include "host/shares.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace clump::host {
namespace {

rlim_t of_all(int resource, std::initializer_list<rlim_t> ranks) {
  return std::accumulate(ranks.begin(), ranks.end(), rlim_t{0},
                         [resource](rlim_t all, rlim_t one) { return add_limit(resource, all, one); });
}

TEST(LimitOfRanks, IsTheLargestOne) {
  EXPECT_EQ(of_all(RLIMIT_FSIZE, {100, 300, 200}), 300u);
  EXPECT_EQ(of_all(RLIMIT_CORE, {0, 0}), 0u);
  EXPECT_EQ(of_all(RLIMIT_FSIZE, {100, RLIM_INFINITY, 200}), RLIM_INFINITY);
  EXPECT_EQ(of_all(RLIMIT_FSIZE, {RLIM_INFINITY - 1, 7}), RLIM_INFINITY - 1);
}

TEST(LimitOfRanks, IsTheSumOfWhatTheProcessUsesUpForAll) {
  for (const int resource : {RLIMIT_CPU, RLIMIT_MEMLOCK, RLIMIT_NOFILE}) {
    EXPECT_EQ(of_all(resource, {100, 300, 200}), 600u);
    EXPECT_EQ(of_all(resource, {100, RLIM_INFINITY}), RLIM_INFINITY);
    EXPECT_EQ(of_all(resource, {0, 0}), 0u);
  }
}

// 2^63 is how some programs write that there is no limit.
TEST(LimitOfRanks, IsNoneWhereTheSumIsLargerThanALimitCanBe) {
  constexpr rlim_t kHalf = rlim_t{1} << 63;
  EXPECT_EQ(of_all(RLIMIT_CPU, {kHalf, kHalf}), RLIM_INFINITY);
  EXPECT_EQ(of_all(RLIMIT_CPU, {kHalf, kHalf, 100}), RLIM_INFINITY);
  EXPECT_EQ(of_all(RLIMIT_CPU, {RLIM_INFINITY - 1, 3}), RLIM_INFINITY);
  EXPECT_EQ(of_all(RLIMIT_CPU, {kHalf, kHalf - 2}), RLIM_INFINITY - 1);
}

std::vector<std::int32_t> numbered(std::size_t count) {
  std::vector<std::int32_t> cores(count);
  std::iota(cores.begin(), cores.end(), 10);
  return cores;
}

TEST(ShareOfCores, IsEqual) {
  using Cores = std::vector<std::int32_t>;
  EXPECT_EQ(share_of(numbered(4), 0, 2), (Cores{10, 11}));
  EXPECT_EQ(share_of(numbered(4), 1, 2), (Cores{12, 13}));
  EXPECT_EQ(share_of(numbered(4), 0, 1), numbered(4));
  EXPECT_EQ(share_of({}, 0, 3), Cores());
}

TEST(ShareOfCores, LeavesNoCoreOutAndGivesNoneTwice) {
  for (const std::size_t cores : {1, 3, 7, 8, 64, 65})
    for (std::size_t ranks = 1; ranks <= cores; ++ranks) {
      std::vector<std::int32_t> all;
      for (std::size_t index = 0; index < ranks; ++index) {
        const auto share = share_of(numbered(cores), index, ranks);
        ASSERT_GE(share.size(), cores / ranks);
        ASSERT_LE(share.size(), cores / ranks + 1);
        all.insert(all.end(), share.begin(), share.end());
      }
      ASSERT_EQ(all, numbered(cores));
    }
}

TEST(ShareOfCores, IsACoreWithOthersWhereThereAreMoreRanks) {
  std::vector<int> ranks_of(3);
  for (std::size_t index = 0; index < 10; ++index) {
    const auto share = share_of(numbered(3), index, 10);
    ASSERT_EQ(share.size(), 1u);
    ++ranks_of[static_cast<std::size_t>(share.front() - 10)];
  }
  for (const int ranks : ranks_of) EXPECT_GE(ranks, 3);
}

}  // namespace
}  // namespace clump::host
