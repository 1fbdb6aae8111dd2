#include "base/core_time.h"

#include <gtest/gtest.h>

#include <chrono>

namespace clump::base {
namespace {

TEST(CoreTimeOf, IsTheFirstTwoNumbers) {
  const auto time = core_time_of("1000 234 5\n");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->run.count(), 1000);
  EXPECT_EQ(time->delay.count(), 234);
  EXPECT_FALSE(core_time_of("").has_value());
  EXPECT_FALSE(core_time_of("1000").has_value());
  EXPECT_FALSE(core_time_of("1000 \n").has_value());
}

TEST(ReadCoreTime, GrowsWithWork) {
  const auto before = read_core_time();
  if (!before) GTEST_SKIP() << "this kernel does not tell";
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < end) continue;
  const auto after = read_core_time();
  ASSERT_TRUE(after.has_value());
  // Run or wanted to.
  EXPECT_GE((after->run + after->delay) - (before->run + before->delay), std::chrono::milliseconds(10));
  EXPECT_FALSE(read_core_time("/proc/self/task/1/no").has_value());
}

}  // namespace
}  // namespace clump::base
