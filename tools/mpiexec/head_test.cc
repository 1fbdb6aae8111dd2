#include "head.h"

#include <gtest/gtest.h>

namespace clump::mpiexec {
namespace {

const std::string kRule = std::string(74, '-') + "\n";

TEST(HeadFilter, ShowsWhatRanksWrite) {
  HeadFilter filter("done 17");
  EXPECT_EQ(filter.add("a line\nhalf "), "a line\n");
  EXPECT_EQ(filter.add("a line\n"), "half a line\n");
  EXPECT_EQ(filter.add("no end"), "");
  EXPECT_EQ(filter.finish(), "no end");
  EXPECT_FALSE(filter.all_done());
}

TEST(HeadFilter, KnowsTheLastWord) {
  HeadFilter filter("done 17");
  EXPECT_EQ(filter.add("before\ndone 17\nafter\n"), "before\nafter\n");
  EXPECT_TRUE(filter.all_done());
}

TEST(HeadFilter, LeavesOutWhatAnAgentHasReported) {
  HeadFilter filter("done 17");
  EXPECT_EQ(
      filter.add("mpiexec: rank 3 failed\n" + kRule +
                 "prterun detected that one or more processes exited with non-zero status,\n\n  more\n" +
                 kRule + "after\n"),
      "mpiexec: rank 3 failed\nafter\n");
}

TEST(HeadFilter, KeepsWhatElseStandsBetweenRules) {
  HeadFilter filter("");
  const std::string block = kRule + "PRTE has lost communication with a remote daemon.\n" + kRule + kRule;
  std::string shown = filter.add(block);
  shown += filter.finish();
  EXPECT_EQ(shown, block);
}

}  // namespace
}  // namespace clump::mpiexec
