#include "base/core_delay.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace clump::base {
namespace {

TEST(CoreDelayOf, IsTheSecondNumber) {
  EXPECT_EQ(core_delay_of("1000 234 5\n"), std::chrono::nanoseconds(234));
  EXPECT_FALSE(core_delay_of("").has_value());
  EXPECT_FALSE(core_delay_of("1000").has_value());
  EXPECT_FALSE(core_delay_of("1000 \n").has_value());
}

TEST(ReadCoreDelay, GrowsWhileAnotherThreadHasTheCore) {
  if (!read_core_delay()) GTEST_SKIP() << "this kernel does not tell";
  std::atomic<bool> is_over{false};
  std::thread both([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    std::thread other([&] {  // on the same core, as it inherits the mask
      while (!is_over) continue;
    });
    const std::chrono::nanoseconds before = *read_core_delay();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < end) continue;
    EXPECT_GT(*read_core_delay() - before, std::chrono::milliseconds(1));
    is_over = true;
    other.join();
  });
  both.join();
}

}  // namespace
}  // namespace clump::base
