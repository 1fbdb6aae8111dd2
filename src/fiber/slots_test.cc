// Slots under contention: nobody gets what somebody else has.
#include "fiber/slots.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace clump::fiber {
namespace {

struct Object {
  std::atomic<int> owner{-1};
};

TEST(Slots, GivesEachToOneAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  static constinit Slots<Object, 10> slots;
  slots.prepare();
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        Object* held[3] = {slots.take(), slots.take(), slots.take()};
        for (Object* const object : held) {
          if (object == nullptr) continue;
          taken.fetch_add(1);
          EXPECT_EQ(object->owner.exchange(thread), -1);
        }
        for (Object* const object : held) {
          if (object == nullptr) continue;
          EXPECT_EQ(object->owner.exchange(-1), thread);
          slots.give_back(object);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(taken.load(), kRounds);
}

TEST(Slots, SaysWhenAllAreInUse) {
  static constinit Slots<Object, 2> slots;
  EXPECT_EQ(slots.take(), nullptr);  // not prepared
  slots.prepare();
  Object* const first = slots.take();
  EXPECT_NE(first, nullptr);
  EXPECT_NE(slots.take(), nullptr);
  EXPECT_EQ(slots.take(), nullptr);
  slots.give_back(first);
  EXPECT_EQ(slots.take(), first);
}

}  // namespace
}  // namespace clump::fiber
