#include "net/habit.h"

#include <gtest/gtest.h>

namespace clump::net {
namespace {

using std::chrono::nanoseconds;

constexpr Count kBytes = 50'000;
constexpr nanoseconds kFastTime{kBytes / Habit::kFast}, kSlowTime{kBytes / Habit::kFast + 1};

TEST(Habit, IsToCopyTogetherAsLongAsThatIsFast) {
  Habit habit;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(habit.wants_crate());
    habit.copied_together(kBytes, kFastTime);
  }
}

TEST(Habit, SlowCopiesInARowAreFollowedByCrates) {
  Habit habit;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < Habit::kTries; ++i) {
      EXPECT_FALSE(habit.wants_crate());
      habit.copied_together(kBytes, kSlowTime);
    }
    for (int i = 0; i < Habit::kInCrates; ++i) EXPECT_TRUE(habit.wants_crate());
  }
}

TEST(Habit, ASlowOneNowAndThenChangesNothing) {
  Habit habit;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(habit.wants_crate());
    habit.copied_together(kBytes, i % Habit::kTries == 0 ? kFastTime : kSlowTime);
  }
}

}  // namespace
}  // namespace clump::net
