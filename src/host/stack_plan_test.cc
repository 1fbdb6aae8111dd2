#include "host/stack_plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>

namespace clump::host {
namespace {

constexpr std::size_t kPage = 4096, kTiB = kGiB << 10;

TEST(StackPlan, BeginsWithTheSoftLimit) {
  const StackPlan plan = plan_stacks({.soft = 8 * kMiB}, 16);
  EXPECT_EQ(plan.wanted, 8 * kMiB);
  EXPECT_EQ(plan.least, 8 * kMiB);
  EXPECT_EQ(plan.room, 64 * kGiB) << "it can grow";
  EXPECT_GT(plan.guard, 64 * kMiB);
  EXPECT_EQ(plan_stacks({.soft = 20 * kMiB + 1}, 16).wanted, 20 * kMiB) << "whole pages";
  EXPECT_EQ(plan_stacks({.soft = 1}, 16).wanted, 256 * kKiB) << "less is of no use";
  EXPECT_EQ(plan_stacks({.soft = kTiB}, 2).room, kTiB) << "the user wants more than a stack usually may have";
}

TEST(StackPlan, HasAllItsRoomWhereThereIsNoSoftLimit) {
  const StackPlan plan = plan_stacks({}, 16);
  EXPECT_EQ(plan.wanted, 64 * kGiB);
  EXPECT_EQ(plan.room, 64 * kGiB);
  EXPECT_EQ(plan.least, 8 * kMiB) << "if there is little address space";
}

TEST(StackPlan, SharesOutTheAddressSpace) {
  EXPECT_EQ(plan_stacks({.soft = 8 * kMiB}, 256).room, 64 * kGiB);
  EXPECT_EQ(plan_stacks({.soft = 8 * kMiB}, 1024).room, 16 * kGiB);
  EXPECT_EQ(plan_stacks({}, 1024).wanted, 16 * kGiB);
  EXPECT_EQ(plan_stacks({.soft = 32 * kGiB}, 1024).wanted, 16 * kGiB) << "16 TiB for all";
  EXPECT_EQ(plan_stacks({.soft = 8 * kMiB}, 10'000'000).wanted, 8 * kMiB) << "and yet what Linux gives";
}

TEST(StackPlan, IsSmallerUnderASanitizer) {
  EXPECT_EQ(plan_stacks({.is_sanitized = true}, 16).room, kGiB);
  EXPECT_EQ(plan_stacks({.is_sanitized = true}, 1024).room, 64 * kMiB);
}

TEST(StackPlan, HasThreadLocalVariablesBesides) {
  const StackPlan plan = plan_stacks({.soft = 8 * kMiB, .thread_locals = kMiB + 1}, 4);
  EXPECT_EQ(plan.wanted, 9 * kMiB + kPage);
  EXPECT_EQ(plan.least, 9 * kMiB + kPage);
}

TEST(StackPlan, DistancesAreNoPowersOfTwo) {
  for (const StackLimits& limits :
       {StackLimits{.soft = 8 * kMiB}, StackLimits{}, StackLimits{.soft = kGiB}}) {
    const StackPlan plan = plan_stacks(limits, 64);
    const std::size_t distance = plan.guard + plan.room;
    const std::size_t high_bits = distance >> 20 << 20;
    EXPECT_NE(distance, high_bits) << "the lower 20 bits would be the same for all stacks";
    EXPECT_NE(distance & (distance - 1), 0u);
  }
}

// `ulimit -v`: guards become smaller first, down to a bound; stacks are never smaller than they have to be.
TEST(StackPlan, FitsIntoLittleAddressSpace) {
  const StackPlan enough = plan_stacks({.soft = 8 * kMiB, .address_space = 4 * kGiB}, 4);
  EXPECT_EQ(enough.guard + enough.room, kGiB);
  EXPECT_GT(enough.guard, 64 * kMiB);
  const StackPlan tight = plan_stacks({.soft = 8 * kMiB, .address_space = 4 * (8 * kMiB + 1000 * kKiB)}, 4);
  EXPECT_EQ(tight.room, 8 * kMiB);
  EXPECT_EQ(tight.guard, 1000 * kKiB);
  for (const std::size_t none : {std::size_t{0}, 4 * (8 * kMiB + 10 * kKiB), 4 * 8 * kMiB}) {
    const StackPlan least = plan_stacks({.soft = 8 * kMiB, .address_space = none}, 4);
    EXPECT_EQ(least.room, 8 * kMiB);
    EXPECT_EQ(least.guard, 64 * kKiB);
  }
}

TEST(StackPlan, BecomesSmallerUntilNothingIsLeftToGive) {
  for (const std::size_t page : {kPage, 64 * kKiB})
    for (const std::size_t count : {1, 7, 4000})
      for (const StackLimits& limits :
           {StackLimits{.soft = 8 * kMiB, .page = page}, StackLimits{.page = page},
            StackLimits{.soft = 300 * kKiB, .thread_locals = 100 * kKiB, .page = page}}) {
        StackPlan plan = plan_stacks(limits, count);
        const std::size_t least = plan.least;
        int steps = 0;
        for (StackPlan before = plan; make_smaller(plan, page); before = plan, ++steps) {
          ASSERT_LT(plan.guard + plan.room, before.guard + before.room);
          ASSERT_GE(plan.room, least);
          ASSERT_LE(plan.wanted, plan.room);
          ASSERT_GE(plan.wanted, least);
          ASSERT_GE(plan.guard, 64 * kKiB);
          ASSERT_EQ((plan.room % page) + (plan.guard % page) + (plan.wanted % page), 0u);
          ASSERT_TRUE(plan.guard == before.guard || before.room == least) << "stacks give before guards do";
        }
        EXPECT_EQ(plan.room, least);
        EXPECT_EQ(plan.wanted, least);
        EXPECT_EQ(plan.guard, 64 * kKiB);
        EXPECT_LT(steps, 64);
      }
}

}  // namespace
}  // namespace clump::host
