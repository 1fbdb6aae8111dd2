#include "base/core_delay.h"

#include <gtest/gtest.h>

#include <chrono>

namespace clump::base {
namespace {

TEST(CoreDelayOf, IsTheSecondNumber) {
  EXPECT_EQ(core_delay_of("1000 234 5\n"), std::chrono::nanoseconds(234));
  EXPECT_FALSE(core_delay_of("").has_value());
  EXPECT_FALSE(core_delay_of("1000").has_value());
  EXPECT_FALSE(core_delay_of("1000 \n").has_value());
}

TEST(ReadCoreDelay, IsOfTheThreadThatIsMeant) {
  if (!read_core_delay()) GTEST_SKIP() << "this kernel does not tell";
  EXPECT_GE(*read_core_delay(), std::chrono::nanoseconds());
  EXPECT_FALSE(read_core_delay("/proc/self/task/1/no").has_value());
}

}  // namespace
}  // namespace clump::base
