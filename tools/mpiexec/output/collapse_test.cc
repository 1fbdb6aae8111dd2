#include "output/collapse.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "pmi/job.h"

namespace clump::mpiexec {
namespace {

using std::chrono::milliseconds;

const Collapser::Clock::time_point kStart{};

std::string line(int rank, std::string_view text) {
  return fmt::format("{0}{1}{0}{2}\n", pmi::kLineMark, rank, text);
}

TEST(Collapser, ShowsAtOnceWhatAllHaveWritten) {
  Collapser lines(3);
  lines.add(line(2, "a") + line(0, "a"), kStart);
  EXPECT_EQ(lines.take(kStart), "");
  lines.add(line(1, "a"), kStart);
  EXPECT_EQ(lines.take(kStart), "[0-2] a\n");
  EXPECT_FALSE(lines.next());
}

TEST(Collapser, WaitsForOthersForAShortTime) {
  Collapser lines(4);
  lines.add(line(1, "a"), kStart);
  lines.add(line(3, "a"), kStart + milliseconds(90));
  lines.add(line(0, "b"), kStart + milliseconds(90));
  EXPECT_EQ(lines.next(), kStart + milliseconds(100));
  EXPECT_EQ(lines.take(kStart + milliseconds(99)), "");
  EXPECT_EQ(lines.take(kStart + milliseconds(100)), "[1,3] a\n");
  lines.add(line(2, "a"), kStart + milliseconds(110));
  EXPECT_EQ(lines.take(kStart + milliseconds(190)), "[0] b\n");
  EXPECT_EQ(lines.take_all(), "[2] a\n");
}

TEST(Collapser, KeepsTheOrderOfEachRank) {
  Collapser lines(2);
  lines.add(line(0, "a") + line(0, "b") + line(0, "a") + line(1, "b") + line(1, "a") + line(1, "a"), kStart);
  EXPECT_EQ(lines.take_all(), "[0] a\n[0-1] b\n[0-1] a\n[1] a\n");
}

TEST(Collapser, TakesEqualLinesOfOneRankForSeveral) {
  Collapser lines(2);
  lines.add(line(0, "") + line(0, "") + line(1, "") + line(1, ""), kStart);
  EXPECT_EQ(lines.take(kStart), "[0-1] \n[0-1] \n");
}

TEST(Collapser, LeavesWhatIsNobodysAsItIs) {
  Collapser lines(2);
  lines.add(
      "from a child\n\x1e"
      "5\x1e"
      "no such rank\n\x1ex\n",
      kStart);
  EXPECT_EQ(lines.take(kStart),
            "from a child\n\x1e"
            "5\x1e"
            "no such rank\n\x1ex\n");
}

TEST(Collapser, KeepsNoMoreThanSoMuch) {
  Collapser lines(2);
  const std::string text(1 << 20, 'x');
  std::string shown;
  for (int i = 0; i < 8; ++i) {
    lines.add(line(0, std::to_string(i) + text), kStart);
    shown += lines.take(kStart);
  }
  EXPECT_TRUE(shown.starts_with("[0] 0xxx"));
  EXPECT_GT(shown.size(), 3 * text.size());
  EXPECT_LT(shown.size(), 6 * text.size());
}

}  // namespace
}  // namespace clump::mpiexec
