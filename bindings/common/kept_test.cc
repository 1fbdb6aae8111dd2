// KeptOnce: one copy for all values that are equal, whatever threads ask for them.
#include "kept.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace clump::facade {
namespace {

struct Pair {
  void (*function)();
  void* state;
};

TEST(KeptOnce, EqualValuesHaveOneCopy) {
  KeptOnce<Pair> kept;
  int state[2];
  Pair* const first = kept.copy_of({nullptr, &state[0]});
  EXPECT_EQ(first->state, &state[0]);
  EXPECT_NE(kept.copy_of({nullptr, &state[1]}), first);
  EXPECT_EQ(kept.copy_of({nullptr, &state[0]}), first);
  EXPECT_EQ(first->state, &state[0]);
}

TEST(KeptOnce, ManyValuesAreFoundAgain) {
  KeptOnce<Pair> kept;
  std::vector<char> states(1000);
  std::set<Pair*> copies;
  for (char& state : states) copies.insert(kept.copy_of({nullptr, &state}));
  EXPECT_EQ(copies.size(), states.size());
  for (char& state : states) EXPECT_TRUE(copies.contains(kept.copy_of({nullptr, &state})));
}

TEST(KeptOnce, ThreadsGetTheSameCopies) {
  KeptOnce<Pair> kept;
  std::vector<char> states(500);
  std::vector<std::vector<Pair*>> found(3);
  std::vector<std::thread> threads;
  for (std::vector<Pair*>& mine : found)
    threads.emplace_back([&] {
      for (char& state : states) mine.push_back(kept.copy_of({nullptr, &state}));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

}  // namespace
}  // namespace clump::facade
