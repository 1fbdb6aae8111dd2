#include "process/threads/thread_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace clump::image {
namespace {

/// A pthread_t that counts how often it is compared.
struct Counted {
  pthread_t number = 0;
  explicit operator std::uint64_t() const { return number; }
  friend bool operator==(const Counted& one, pthread_t other) {
    ++compared;
    return one.number == other;
  }
  static inline int compared = 0;
};
struct Running {
  Counted thread_;
  Running* next_ = nullptr;
  Running** link_ = nullptr;
};

/// So many threads whose stacks lie one behind the other, as the C library maps them.
std::vector<Running> threads(std::size_t count, std::uint64_t distance) {
  std::vector<Running> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i].thread_.number = 0x7f12'3456'76c0 - i * distance;
  return all;
}

void add(ThreadTable<Running>& table, std::vector<Running>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const std::size_t wanted = table.wanted(i + 1)) {
      const auto old = table.grow(ThreadTable<Running>::make(wanted), wanted);
      EXPECT_EQ(old == nullptr, i == 64) << "the first places are part of the table";
    }
    table.add(all[i]);
  }
}

TEST(ThreadTable, FindsEachOfManyThreadsWithFewComparisons) {
  for (const std::uint64_t distance : {8392704u, 135168u, 20480u, 8388608u, 65536u}) {
    std::vector<Running> all = threads(5000, distance);
    ThreadTable<Running> table;
    add(table, all);
    int most = 0;
    for (Running& one : all) {
      Counted::compared = 0;
      ASSERT_EQ(table.find(one.thread_.number), &one);
      most = std::max(most, Counted::compared);
    }
    EXPECT_LE(most, 8) << distance;
  }
}

TEST(ThreadTable, DoesNotFindWhatIsNotThere) {
  std::vector<Running> all = threads(300, 8392704);
  ThreadTable<Running> table;
  add(table, all);
  EXPECT_EQ(table.find(all[0].thread_.number + 64), nullptr);
  for (std::size_t i = 0; i < all.size(); i += 2) ThreadTable<Running>::remove(all[i]);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(table.find(all[i].thread_.number), i % 2 == 0 ? nullptr : &all[i]);
}

TEST(ThreadTable, WorksWithoutMemoryForMorePlaces) {
  std::vector<Running> all = threads(300, 8392704);
  ThreadTable<Running> table;
  for (Running& one : all) table.add(one);
  for (Running& one : all) EXPECT_EQ(table.find(one.thread_.number), &one);
  EXPECT_EQ(table.grow(nullptr, 1024), nullptr);
  EXPECT_EQ(table.find(all[7].thread_.number), &all[7]);
}

TEST(ThreadTable, RemovesOnlyWhatWasAdded) {
  Running never;
  ThreadTable<Running>::remove(never);
  ThreadTable<Running> table;
  EXPECT_EQ(table.find(0), nullptr);
}

}  // namespace
}  // namespace clump::image
