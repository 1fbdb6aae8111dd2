#include "fiber/completion.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace clump::fiber {
namespace {

class CompletionTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { set_spinning(GetParam()); }
};

TEST_P(CompletionTest, WaitReturnsAfterSignalAndSeesTheWork) {
  for (int round = 0; round < 2000; ++round) {
    Completion completion;
    int work = 0;
    std::thread other([&] {
      work = round;
      completion.signal();
    });
    completion.wait();
    EXPECT_EQ(work, round);
    other.join();
  }
}

TEST_P(CompletionTest, SignalBeforeWait) {
  Completion completion;
  EXPECT_FALSE(completion.done());
  completion.signal();
  EXPECT_TRUE(completion.done());
  completion.wait();
  completion.reset();
  EXPECT_FALSE(completion.done());
}

TEST_P(CompletionTest, WaitAnyWakesForEachOfMany) {
  constexpr int kMany = 16;
  std::array<Completion, kMany> completions;
  std::thread other([&] {
    for (int i = kMany; i-- > 0;) {
      std::this_thread::yield();
      completions[i].signal();
    }
  });
  std::vector<Completion*> pending(kMany);
  for (int i = 0; i < kMany; ++i) pending[i] = &completions[i];
  for (int left = kMany; left > 0;) {
    wait_any(pending);
    int found = 0;
    for (auto& p : pending)
      if (p != nullptr && p->done()) {
        p = nullptr;
        ++found;
      }
    ASSERT_GT(found, 0);
    left -= found;
  }
  other.join();
}

TEST_P(CompletionTest, WaitAnyLeavesPendingOnesUsable) {
  Completion first, second;
  std::array<Completion*, 2> both{&first, &second};
  std::thread one([&] { first.signal(); });
  wait_any(both);
  one.join();
  std::thread two([&] { second.signal(); });
  second.wait();
  EXPECT_TRUE(second.done());
  two.join();
}

std::atomic<int> alarms{0};

// Two threads hand a turn to and fro, asleep most of the time, and never both: whatever the timing, that is
// no deadlock.
TEST_P(CompletionTest, HandingOverIsNoDeadlock) {
  on_deadlock([] { alarms.fetch_add(1); });
  constexpr int kTurns = 50'000;
  std::vector<Completion> turns(kTurns + 1);
  const auto play = [&](int first) {
    for (int turn = first; turn < kTurns; turn += 2) {
      turns[turn].wait();
      turns[turn + 1].signal();
    }
    thread_ends();
  };
  thread_begins();
  thread_begins();
  turns[0].signal();
  std::thread one([&] { play(0); });
  std::thread two([&] { play(1); });
  one.join();
  two.join();
  on_deadlock(nullptr);
  EXPECT_EQ(alarms.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Spinning, CompletionTest, ::testing::Bool());

}  // namespace
}  // namespace clump::fiber
