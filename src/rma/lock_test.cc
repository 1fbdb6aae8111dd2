#include "rma/lock.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace clump::rma {
namespace {

using Type = LockType;

struct Fixture {
  Lock lock{};
  std::array<LockWaiter, 8> waiters{};
  std::vector<int> granted;

  bool take(Type type, int origin) { return lock.take_or_queue(type, origin, waiters.data()); }
  std::vector<int> give_back(Type type) {
    granted.clear();
    lock.give_back(type, waiters.data(), [&](int origin) { granted.push_back(origin); });
    return granted;
  }
};

TEST(Lock, SharersDoNotExcludeEachOther) {
  Fixture f;
  EXPECT_TRUE(f.lock.try_take(Type::kShared, 0));
  EXPECT_TRUE(f.lock.try_take(Type::kShared, 1));
  EXPECT_EQ(f.lock.sharers(), 2);
  EXPECT_EQ(f.lock.holder(), -1);
  EXPECT_FALSE(f.lock.try_take(Type::kExclusive, 2));
  EXPECT_TRUE(f.give_back(Type::kShared).empty());
  EXPECT_TRUE(f.give_back(Type::kShared).empty());
  EXPECT_TRUE(f.lock.try_take(Type::kExclusive, 2));
  EXPECT_EQ(f.lock.holder(), 2);
  EXPECT_FALSE(f.lock.try_take(Type::kShared, 0));
}

TEST(Lock, FirstComeFirstServed) {
  Fixture f;
  EXPECT_TRUE(f.take(Type::kExclusive, 0));
  EXPECT_FALSE(f.take(Type::kShared, 1));
  EXPECT_FALSE(f.take(Type::kShared, 2));
  EXPECT_FALSE(f.take(Type::kExclusive, 3));
  EXPECT_FALSE(f.take(Type::kShared, 4));
  EXPECT_TRUE(f.lock.has_queue());
  EXPECT_EQ(f.give_back(Type::kExclusive), (std::vector{1, 2}));
  EXPECT_FALSE(f.lock.try_take(Type::kShared, 5)) << "overtakes rank 3";
  EXPECT_TRUE(f.give_back(Type::kShared).empty());
  EXPECT_EQ(f.give_back(Type::kShared), (std::vector{3}));
  EXPECT_EQ(f.lock.holder(), 3);
  EXPECT_EQ(f.give_back(Type::kExclusive), (std::vector{4}));
  EXPECT_FALSE(f.lock.has_queue());
  EXPECT_TRUE(f.lock.try_take(Type::kShared, 5)) << "nobody waits any more";
}

TEST(Lock, AnOriginMayWaitAgainAtOnce) {
  Fixture f;
  EXPECT_TRUE(f.take(Type::kExclusive, 0));
  EXPECT_FALSE(f.take(Type::kExclusive, 1));
  for (int i = 0; i < 10; ++i) {
    const int holder = i % 2, other = 1 - holder;
    EXPECT_EQ(f.give_back(Type::kExclusive), (std::vector{other}));
    EXPECT_FALSE(f.take(Type::kExclusive, holder));
  }
}

/// Threads that take it in both ways; a granted thread is told by a flag.
TEST(Lock, KeepsThreadsApart) {
  constexpr int kThreads = 4, kRounds = 20000;
  Lock lock;
  std::array<LockWaiter, kThreads> waiters{};
  std::array<std::atomic<bool>, kThreads> told{};
  int counter = 0;  // guarded by the lock, exclusively
  std::atomic<int> inside{0}, wrong{0};
  const auto run = [&](int self) {
    for (int i = 0; i < kRounds; ++i) {
      const Type type = (i + self) % 3 == 0 ? Type::kExclusive : Type::kShared;
      if (!lock.try_take(type, self) && !lock.take_or_queue(type, self, waiters.data())) {
        while (!told[self].load(std::memory_order_acquire)) std::this_thread::yield();
        told[self].store(false, std::memory_order_relaxed);
      }
      if (type == Type::kExclusive) {
        if (inside.load(std::memory_order_relaxed) != 0) wrong.fetch_add(1);
        ++counter;
      } else {
        inside.fetch_add(1, std::memory_order_relaxed);
        inside.fetch_sub(1, std::memory_order_relaxed);
      }
      lock.give_back(type, waiters.data(),
                     [&](int origin) { told[origin].store(true, std::memory_order_release); });
    }
  };
  std::vector<std::thread> threads;
  for (int self = 0; self < kThreads; ++self) threads.emplace_back(run, self);
  for (std::thread& thread : threads) thread.join();
  int expected = 0;
  for (int self = 0; self < kThreads; ++self)
    for (int i = 0; i < kRounds; ++i) expected += static_cast<int>((i + self) % 3 == 0);
  EXPECT_EQ(counter, expected);
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_TRUE(lock.try_take(Type::kExclusive, 0));
}

}  // namespace
}  // namespace clump::rma
