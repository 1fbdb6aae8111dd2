#include "cluster/ending.h"

#include <gtest/gtest.h>

#include <csignal>

namespace clump::mpiexec {
namespace {

using Step = Ending::Step;

TEST(Ending, WaitsForNothingBeforeTheProxiesAreThere) {
  Ending ending(0);
  EXPECT_FALSE(ending.alarm());
  ending.begin(SIGTERM, {});
  EXPECT_EQ(ending.why(), SIGTERM);
  EXPECT_EQ(ending.next(), Step::kTerminate);
  EXPECT_EQ(ending.next(), Step::kNothing);
  EXPECT_FALSE(ending.alarm());
}

TEST(Ending, GivesHostsSomeTimeAfterAFailure) {
  Ending ending(1000);
  ending.limit(std::chrono::seconds(50));
  EXPECT_EQ(ending.next(), Step::kNothing);
  EXPECT_FALSE(ending.has_begun());
  EXPECT_LT(*ending.alarm(), Ending::Clock::now() + std::chrono::seconds(100));
}

TEST(Ending, TellsTheRanksOnceWhenTheyHaveAnswered) {
  Ending ending(0);
  ending.begin(SIGTERM, {.can_be_told = true, .are_asked = true});
  EXPECT_EQ(ending.next(), Step::kNothing);
  for (int times = 0; times < 2; ++times) {
    ending.note_answer();
    EXPECT_EQ(ending.next(), times == 0 ? Step::kTell : Step::kNothing);
  }
}

TEST(Ending, GivesRanksNoTimeWhereTheReaderHasGone) {
  Ending ending(0);
  ending.begin(SIGPIPE, {.can_be_told = true, .are_asked = false});
  EXPECT_EQ(ending.next(), Step::kTell);
  ASSERT_TRUE(ending.alarm());
  Ending signalled(0);
  signalled.begin(SIGTERM, {.can_be_told = true, .are_asked = false});
  EXPECT_EQ(signalled.next(), Step::kTell);
  EXPECT_LT(*ending.alarm(), *signalled.alarm());
}

TEST(Ending, KillsAtOnceWhenAskedTwice) {
  Ending ending(0);
  ending.begin(SIGINT, {.can_be_told = true, .are_asked = false});
  EXPECT_EQ(ending.next(), Step::kTell);
  ending.begin(SIGTERM, {.can_be_told = true, .are_asked = true});
  EXPECT_EQ(ending.why(), SIGINT);
  EXPECT_EQ(ending.next(), Step::kKill);
  EXPECT_FALSE(ending.alarm());
}

TEST(Ending, KnowsTheTimeoutUntilItEndsOtherwise) {
  Ending ending(1000);
  ASSERT_TRUE(ending.alarm());
  EXPECT_GT(*ending.alarm(), Ending::Clock::now() + std::chrono::seconds(900));
  EXPECT_FALSE(ending.is_timeout());
  ending.begin(SIGINT, {});
  EXPECT_LT(*ending.alarm(), Ending::Clock::now() + std::chrono::seconds(100));
}

}  // namespace
}  // namespace clump::mpiexec
