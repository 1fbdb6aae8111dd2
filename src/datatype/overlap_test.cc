#include "datatype/overlap.h"

#include <gtest/gtest.h>

#include <array>

#include "datatype/derive.h"

namespace clump::datatype {
namespace {

const Datatype& kInt() { return *predefined(MPI_INT); }

TEST(Overlaps, OfSolidBuffers) {
  std::array<int, 8> data{};
  const Layout first{data.data(), 4, &kInt()}, last{data.data() + 4, 4, &kInt()},
      middle{data.data() + 3, 2, &kInt()};
  EXPECT_FALSE(overlap(first, last));
  EXPECT_TRUE(overlap(first, middle));
  EXPECT_TRUE(overlap(middle, last));
  EXPECT_FALSE(overlap(first, {data.data(), 0, &kInt()}));
  EXPECT_FALSE(overlap_themselves(std::array{first, last}));
  EXPECT_TRUE(overlap_themselves(std::array{last, middle}));
}

TEST(Overlaps, NotOfColumnsThatLieBetweenEachOther) {
  std::array<int, 64> data{};
  Made column;
  ASSERT_TRUE(make_vector({8, 1, 8}, kInt(), column).ok());
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(overlap({data.data() + i, 1, column.type.get()}, {data.data() + j, 1, column.type.get()}),
                i == j);
  EXPECT_TRUE(overlap({data.data() + 3, 1, column.type.get()}, {data.data() + 19, 1, &kInt()}));
  EXPECT_FALSE(overlap({data.data() + 3, 1, column.type.get()}, {data.data() + 20, 7, &kInt()}));
}

TEST(Overlaps, OfATypeWithItself) {
  std::array<int, 64> data{};
  Made twice, turned, short_step;
  const std::array<Count, 3> lengths{2, 2, 1}, overlapping{4, 0, 1}, apart{4, 0, 2};
  ASSERT_TRUE(make_indexed(lengths, overlapping, kInt(), twice).ok());
  ASSERT_TRUE(make_indexed(lengths, apart, kInt(), turned).ok());
  EXPECT_TRUE(overlap_themselves(std::array{Layout{data.data(), 1, twice.type.get()}}));
  EXPECT_FALSE(overlap_themselves(std::array{Layout{data.data(), 1, turned.type.get()}}));
  EXPECT_FALSE(overlap_themselves(std::array{Layout{data.data(), 3, turned.type.get()}}));
  // One is whole, but the next one begins inside of it.
  ASSERT_TRUE(make_resized(*turned.type, 0, 4, short_step).ok());
  EXPECT_FALSE(overlap_themselves(std::array{Layout{data.data(), 1, short_step.type.get()}}));
  EXPECT_TRUE(overlap_themselves(std::array{Layout{data.data(), 2, short_step.type.get()}}));
  // Blocks of one of them that overlap hide none that reaches farther.
  EXPECT_TRUE(overlap({data.data(), 1, twice.type.get()}, {data.data() + 5, 1, &kInt()}));
  EXPECT_FALSE(overlap({data.data(), 1, twice.type.get()}, {data.data() + 3, 1, &kInt()}));
}

TEST(Reaches, AreThoseOfNegativeExtents) {
  std::array<int, 8> data{};
  Made backwards;
  ASSERT_TRUE(make_resized(kInt(), 0, -4, backwards).ok());
  const Reach reach = reach_of({data.data() + 7, 8, backwards.type.get()});
  EXPECT_EQ(reach.begin, reinterpret_cast<std::intptr_t>(data.data()));
  EXPECT_EQ(reach.end, reinterpret_cast<std::intptr_t>(data.data() + 8));
}

}  // namespace
}  // namespace clump::datatype
