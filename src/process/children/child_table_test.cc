// The table of children under threads that find, forget and note them at the same time: no child is lost,
// none gets another owner, and one thread only takes each.
#include "process/children/child_table.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace clump::image {
namespace {

constexpr int kOwners = 3, kThreadsOfOwner = 2, kChildren = 20'000;

TEST(ChildTable, FindsByNumberAndByOwner) {
  ChildTable table;
  fiber::Identity a, b;
  for (pid_t process = 1; process <= 600; ++process) table.note(process, process % 3 == 0 ? &b : &a);
  EXPECT_EQ(table.find(599).owner, &a);
  EXPECT_EQ(table.find(600).owner, &b);
  EXPECT_FALSE(table.find(601));
  int count = 0;
  for (auto child = table.next_of(&b, {}); child; child = table.next_of(&b, child)) ++count;
  EXPECT_EQ(count, 200);
  EXPECT_TRUE(table.forget(table.find(300)));
  EXPECT_FALSE(table.find(300));
}

TEST(ChildTable, WhatIsDoneToAnEntryOfAnotherChildHasNoEffect) {
  ChildTable table;
  fiber::Identity a, b;
  table.note(1, &a);
  const ChildTable::Found stale = table.find(1);
  EXPECT_TRUE(table.forget(stale));
  table.note(2, &b);
  ASSERT_EQ(table.find(2).entry, stale.entry);
  EXPECT_FALSE(table.forget(stale));
  EXPECT_EQ(table.find(2).owner, &b);
  EXPECT_TRUE(ChildTable::tells_first(stale));
  EXPECT_TRUE(ChildTable::tells_first(table.find(2)));
  EXPECT_FALSE(ChildTable::tells_first(table.find(2)));
}

TEST(ChildTable, EachChildIsTakenOnceAndByItsOwner) {
  ChildTable table;
  std::array<fiber::Identity, kOwners> owners;
  std::array<std::atomic<int>, kOwners> taken{};
  std::array<std::atomic<int>, kOwners> noted{};
  std::atomic<int> strangers{0};
  std::vector<std::thread> threads;
  for (int owner = 0; owner < kOwners; ++owner) {
    for (int t = 0; t < kThreadsOfOwner; ++t) {
      threads.emplace_back([&, owner] {
        while (taken[owner].load() < kChildren) {
          const int mine = noted[owner].fetch_add(1);
          if (mine < kChildren) table.note(mine * kOwners + owner + 1, &owners[owner]);
          for (auto child = table.next_of(&owners[owner], {}); child;
               child = table.next_of(&owners[owner], child)) {
            if ((child.process - 1) % kOwners != owner) ++strangers;
            if (table.forget(child)) ++taken[owner];
          }
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(strangers.load(), 0);
  for (int owner = 0; owner < kOwners; ++owner) {
    EXPECT_EQ(taken[owner].load(), kChildren);
    EXPECT_FALSE(table.next_of(&owners[owner], {}));
  }
}

}  // namespace
}  // namespace clump::image
