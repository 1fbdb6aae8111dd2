#include "io/coverage.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "seed.h"

namespace clump::io {
namespace {

using Stretches = std::vector<std::pair<Count, Count>>;

Stretches covered(Count begin, Count end, const std::vector<datatype::Run>& runs) {
  Coverage coverage(begin, end);
  for (const datatype::Run& run : runs) coverage.measure(run);
  for (const datatype::Run& run : runs) coverage.add(run);
  Stretches found;
  coverage.for_each([&](Count offset, Count bytes) {
    found.emplace_back(offset, bytes);
    return true;
  });
  return found;
}

TEST(Coverage, IsEmptyWithoutBlocks) { EXPECT_EQ(covered(100, 200, {}), Stretches()); }

TEST(Coverage, JoinsBlocksThatTouchAndOverlap) {
  EXPECT_EQ(covered(100, 400,
                    {{.base = 100, .block = 8, .count = 3, .stride = 16},
                     {.base = 108, .block = 8, .count = 3, .stride = 16},
                     {.base = 120, .block = 40, .count = 1}}),
            (Stretches{{100, 60}}));
}

TEST(Coverage, KeepsGaps) {
  EXPECT_EQ(
      covered(0, 100,
              {{.base = 3, .block = 2, .count = 2, .stride = 90}, {.base = 50, .block = 1, .count = 1}}),
      (Stretches{{3, 2}, {50, 1}, {93, 2}}));
}

TEST(Coverage, StopsWhenAsked) {
  Coverage coverage(0, 100);
  const datatype::Run run{.base = 0, .block = 1, .count = 10, .stride = 10};
  coverage.measure(run);
  coverage.add(run);
  int calls = 0;
  coverage.for_each([&](Count, Count) { return ++calls < 3; });
  EXPECT_EQ(calls, 3);
}

TEST(Coverage, IsWhatANaiveMapSays) {
  std::mt19937 random(static_cast<unsigned>(test_seed(1)));
  const auto draw = [&](Count below) {
    return static_cast<Count>(random() % static_cast<std::uint64_t>(below));
  };
  for (int round = 0; round < 2000; ++round) {
    const Count begin = draw(1000), bytes = 1 + draw(3000), unit = 1 + draw(8);
    std::vector<datatype::Run> runs;
    std::vector<bool> map(static_cast<std::size_t>(bytes));
    for (Count i = draw(6); i > 0; --i) {
      const Count block = unit * (1 + draw(20)), stride = block + unit * draw(10),
                  first = unit * draw(bytes / unit + 1);
      Count count = 0;
      while (count < 10 && first + count * stride + block <= bytes) ++count;
      if (count == 0) continue;
      runs.push_back({.base = static_cast<std::intptr_t>(begin + first),
                      .block = block,
                      .count = count,
                      .stride = stride});
      for (Count k = 0; k < count; ++k)
        for (Count b = 0; b < block; ++b) map[static_cast<std::size_t>(first + k * stride + b)] = true;
    }
    Stretches expected;
    for (Count at = 0; at < bytes; ++at) {
      if (!map[static_cast<std::size_t>(at)]) continue;
      if (expected.empty() || expected.back().first + expected.back().second != begin + at)
        expected.emplace_back(begin + at, 0);
      ++expected.back().second;
    }
    ASSERT_EQ(covered(begin, begin + bytes, runs), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace clump::io
