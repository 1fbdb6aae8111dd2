// The checker itself: what C++ allows and forbids for the smallest programs, and futexes.
#include <gtest/gtest.h>

#include "model.h"

namespace clump::models {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, seq_cst = std::memory_order_seq_cst;
constexpr Register r0{0}, r1{1};

bool always(const State&) { return true; }

/// Two threads, each of which writes its word and then reads the other's: may both find 0?
enum class Between { kNothing, kFence, kOneFence, kOneMembarrier };
bool both_miss(Memory memory, std::memory_order store, std::memory_order load, Between between) {
  Model model;
  const Location words[] = {model.location("x"), model.location("y")}, misses = model.location("misses");
  for (const int i : {0, 1}) {
    Program& thread = model.thread(i == 0 ? "first" : "second").store(words[i], 1, store);
    if (between == Between::kFence || (between == Between::kOneFence && i == 0)) thread.fence();
    if (between == Between::kOneMembarrier && i == 0) thread.membarrier();
    thread.load(r0, words[1 - i], load)
        .jump_if([](const Registers& r) { return r[0] != 0; }, "end")
        .add(r1, misses, 1, relaxed)
        .check([](const Registers& r) { return r[1] == 0; }, "both miss")
        .label("end")
        .end();
  }
  return !model.explore(memory, always).holds;
}

TEST(Explorer, StoresMayBeLate) {
  EXPECT_FALSE(both_miss(Memory::kSequential, relaxed, relaxed, Between::kNothing));
  EXPECT_TRUE(both_miss(Memory::kReleaseAcquire, relaxed, relaxed, Between::kNothing));
  EXPECT_TRUE(both_miss(Memory::kReleaseAcquire, release, acquire, Between::kNothing));
  EXPECT_TRUE(both_miss(Memory::kReleaseAcquire, seq_cst, acquire, Between::kNothing));
  EXPECT_TRUE(both_miss(Memory::kReleaseAcquire, seq_cst, acquire, Between::kOneFence));
  EXPECT_FALSE(both_miss(Memory::kReleaseAcquire, seq_cst, seq_cst, Between::kNothing));
  EXPECT_FALSE(both_miss(Memory::kReleaseAcquire, relaxed, relaxed, Between::kFence));
  EXPECT_FALSE(both_miss(Memory::kReleaseAcquire, relaxed, relaxed, Between::kOneMembarrier));
}

/// One thread writes data and then a word; may the other see the word, and old data?
bool data_are_old(std::memory_order store, std::memory_order load) {
  Model model;
  const Location data = model.location("data"), word = model.location("word");
  model.thread("writer").store(data, 1, relaxed).store(word, 1, store).end();
  model.thread("reader")
      .load(r0, word, load)
      .load(r1, data, relaxed)
      .check([](const Registers& r) { return r[0] == 0 || r[1] == 1; }, "old data")
      .end();
  return !model.explore(Memory::kReleaseAcquire, always).holds;
}

TEST(Explorer, ReleaseAndAcquireHandDataOn) {
  EXPECT_FALSE(data_are_old(release, acquire));
  EXPECT_TRUE(data_are_old(relaxed, acquire));
  EXPECT_TRUE(data_are_old(release, relaxed));
}

TEST(Explorer, AtomicOperationsLoseNothing) {
  Model model;
  const Location count = model.location("count");
  for (const char* name : {"first", "second", "third"}) model.thread(name).add(r0, count, 1, relaxed).end();
  const auto all = [&](const State& s) { return s.value(count) == 3; };
  EXPECT_TRUE(model.explore(Memory::kReleaseAcquire, all).holds);
  Model other;
  const Location word = other.location("word");
  for (const char* name : {"first", "second"})
    other.thread(name)
        .load(r0, word, seq_cst)
        .let([](Registers& r) { ++r[0]; })
        .store(word, r0, seq_cst)
        .end();
  const Outcome lost = other.explore(Memory::kSequential, [&](const State& s) { return s.value(word) == 2; });
  EXPECT_FALSE(lost.holds);
  EXPECT_NE(lost.how.find("first: reads word: 0\n"), std::string::npos) << lost.how;
}

/// A thread sleeps until a word is 1.
bool sleeper_wakes(bool waker_wakes, bool timed) {
  Model model;
  const Location word = model.location("word");
  model.thread("sleeper")
      .label("look")
      .load(r0, word, relaxed)
      .jump_if([](const Registers& r) { return r[0] == 1; }, "end")
      .futex_wait(r1, word, 0, timed)
      .jump("look")
      .label("end")
      .end();
  Program& waker = model.thread("waker").store(word, 1, relaxed);
  if (waker_wakes) waker.futex_wake(word, 1);
  waker.end();
  return model.explore(Memory::kReleaseAcquire, [](const State& s) { return s.ended(0); }).holds;
}

TEST(Explorer, ASleeperIsWokenOrLostForEver) {
  EXPECT_TRUE(sleeper_wakes(true, false));
  EXPECT_FALSE(sleeper_wakes(false, false));
  EXPECT_TRUE(sleeper_wakes(false, true));
}

}  // namespace
}  // namespace clump::models
