#include "core/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "mpi.h"

namespace clump::core {
namespace {

TEST(HandleTable, FindsWhatWasInserted) {
  HandleTable<int> table;
  int first = 1, second = 2;
  const auto a = table.insert(&first), b = table.insert(&second);
  EXPECT_NE(a, b);
  EXPECT_EQ(table.find(a), &first);
  EXPECT_EQ(table.find(b), &second);
  EXPECT_EQ(table.live(), 2u);
}

TEST(HandleTable, HandsOutNoPredefinedAndNoNegativeHandles) {
  HandleTable<int> table;
  int object = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto value = table.insert(&object);
    ASSERT_GE(value, kPredefinedHandles);
    ASSERT_LE(value, INT32_MAX);
  }
}

TEST(HandleTable, KnowsFreedHandles) {
  HandleTable<int> table;
  int object = 0, other = 0;
  const auto freed = table.insert(&object);
  EXPECT_EQ(table.remove(freed), &object);
  EXPECT_EQ(table.find(freed), nullptr);
  EXPECT_EQ(table.remove(freed), nullptr);
  // The slot is taken again, and still the old handle is not the new one.
  const auto taken = table.insert(&other);
  EXPECT_NE(taken, freed);
  EXPECT_EQ(table.find(freed), nullptr);
  EXPECT_EQ(table.find(taken), &other);
  EXPECT_EQ(table.live(), 1u);
}

TEST(HandleTable, ReusesSlotsManyTimes) {
  HandleTable<int> table;
  int object = 0;
  std::set<std::intptr_t> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto value = table.insert(&object);
    seen.insert(value);
    ASSERT_EQ(table.find(value), &object);
    ASSERT_EQ(table.remove(value), &object);
  }
  EXPECT_EQ(seen.size(), 128u) << "as many as there are generations of one slot";
}

TEST(HandleTable, AnswersNullForEveryOtherNumber) {
  HandleTable<int> table;
  int object = 0;
  const auto value = table.insert(&object);
  for (const std::intptr_t wrong :
       {std::intptr_t{0}, std::intptr_t{1}, std::intptr_t{4095}, value + 1, value + 1'000'000,
        value + (std::intptr_t{1} << 24), value + (std::intptr_t{1} << 31), value + (std::intptr_t{1} << 40),
        std::intptr_t{-1}, -value, INTPTR_MIN, INTPTR_MAX, reinterpret_cast<std::intptr_t>(&object)})
    EXPECT_EQ(table.find(wrong), nullptr) << wrong;
  EXPECT_EQ(table.find(value_of(MPI_COMM_WORLD)), nullptr);
}

TEST(HandleTable, SlotsStayWhereTheyAreWhileItGrows) {
  HandleTable<int> table;
  std::vector<int> objects(100'000);
  std::vector<std::intptr_t> values;
  for (int& object : objects) values.push_back(table.insert(&object));
  for (std::size_t i = 0; i < objects.size(); ++i) ASSERT_EQ(table.find(values[i]), &objects[i]);
  EXPECT_EQ(std::set<std::intptr_t>(values.begin(), values.end()).size(), objects.size());
}

TEST(HandleTable, VisitsTheLiveOnes) {
  HandleTable<int> table;
  std::vector<int> objects(100);
  std::vector<std::intptr_t> values;
  for (int& object : objects) values.push_back(table.insert(&object));
  for (std::size_t i = 0; i < values.size(); i += 2) table.remove(values[i]);
  table.for_each([](int& object) { ++object; });
  for (std::size_t i = 0; i < objects.size(); ++i) EXPECT_EQ(objects[i], i % 2 == 0 ? 0 : 1);
}

TEST(HandleTable, EndsWhereTheNumbersEnd) {
  HandleTable<int> table;
  int object = 0;
  constexpr std::intptr_t kAll = (std::intptr_t{1} << 24) - kPredefinedHandles;
  std::intptr_t last = 0;
  for (std::intptr_t i = 0; i < kAll; ++i) last = table.insert(&object);
  EXPECT_EQ(table.find(last), &object);
  EXPECT_LE(last, INT32_MAX);
  EXPECT_THROW((void)table.insert(&object), std::bad_alloc);
  EXPECT_EQ(table.remove(last), &object);
  EXPECT_NE(table.insert(&object), last);
}

TEST(HandleTable, ThreadsInsertFindAndRemove) {
  HandleTable<int> table;
  const auto work = [&table] {
    int mine = 0;
    for (int i = 0; i < 20'000; ++i) {
      const auto value = table.insert(&mine);
      ASSERT_EQ(table.find(value), &mine);
      ASSERT_EQ(table.remove(value), &mine);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(table.live(), 0u);
}

// Other threads insert and remove meanwhile; what is found all the time is in each snapshot, once.
TEST(HandleTable, TakesASnapshotWhileOthersChangeIt) {
  HandleTable<int> table;
  std::vector<int> kept(300), others(300);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = static_cast<int>(i);
    others[i] = -1;
    table.insert(&kept[i]);
  }
  std::atomic<bool> over{false};
  std::thread changes([&] {
    while (!over) {
      std::vector<std::intptr_t> handles;
      for (int& other : others) handles.push_back(table.insert(&other));
      for (const std::intptr_t handle : handles) table.remove(handle);
    }
  });
  for (int i = 0; i < 100; ++i) {
    std::vector<int> found = table.snapshot([](int& object) { return object; });
    std::erase(found, -1);
    std::vector<int> all = kept;
    EXPECT_EQ(found, all);
  }
  over = true;
  changes.join();
}

}  // namespace
}  // namespace clump::core
