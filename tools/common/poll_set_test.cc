#include "common/poll_set.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>

namespace clump::tools {
namespace {

using std::chrono::milliseconds;

TEST(PollSet, TimesAreNeverCutShortOrWithoutEnd) {
  EXPECT_EQ(poll_timeout({}), -1);
  EXPECT_EQ(poll_timeout(milliseconds(0)), 0);
  EXPECT_EQ(poll_timeout(milliseconds(-1)), 0) << "it is over";
  EXPECT_EQ(poll_timeout(milliseconds(INT_MAX)), INT_MAX);
  EXPECT_EQ(poll_timeout(milliseconds(std::int64_t{1} << 32)), INT_MAX);
  EXPECT_EQ(poll_timeout(std::chrono::hours(24 * 30)), INT_MAX);
}

}  // namespace
}  // namespace clump::tools
