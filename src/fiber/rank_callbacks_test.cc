// The threads of a rank are woken from their waits to run callbacks, and go on waiting.
#include "fiber/rank_callbacks.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "fiber/completion.h"
#include "fiber/identity.h"

namespace clump::fiber {
namespace {

struct Counted final : RankCallbacks {
  bool any() const noexcept override { return left.load() > done.load(); }
  void run() override {
    for (int before = done.load(); before < left.load();)
      if (done.compare_exchange_weak(before, before + 1)) by = std::this_thread::get_id();
  }
  void submit() {
    ++left;
    call();
  }
  std::atomic<int> left{0}, done{0};
  std::atomic<std::thread::id> by;
};

void wait_until_done(const Counted& callbacks, int number) {
  while (callbacks.done.load() < number) std::this_thread::yield();
}

TEST(RankCallbacks, AreDoneByWhoWaits) {
  for (const bool several : {false, true}) {
    Counted callbacks;
    Identity identity;
    identity.callbacks = &callbacks;
    callbacks.expect(1);
    Completion first;
    Completion second;
    std::thread waiter([&] {
      adopt_identity(&identity);
      const std::array completions{&first, &second};
      if (several)
        wait_any(completions);
      else
        first.wait();
      EXPECT_TRUE(first.done());
    });
    const auto id = waiter.get_id();
    for (int i = 1; i <= 1000; ++i) {
      callbacks.submit();
      wait_until_done(callbacks, i);
    }
    first.signal();
    waiter.join();
    EXPECT_EQ(callbacks.by.load(), id);
  }
}

TEST(RankCallbacks, AreNotLostWhenTheOneCalledHasGone) {
  constexpr int kRounds = 300;
  Counted callbacks;
  Identity identity;
  identity.callbacks = &callbacks;
  callbacks.expect(1);
  for (int round = 1; round <= kRounds; ++round) {
    Completion soon;
    Completion late;
    const auto wait = [&identity](Completion& completion) {
      adopt_identity(&identity);
      completion.wait();
    };
    std::thread leaves([&] { wait(soon); });
    std::thread stays([&] { wait(late); });
    std::thread caller([&] { callbacks.submit(); });
    soon.signal();
    wait_until_done(callbacks, round);  // by one of the two
    late.signal();
    for (std::thread* thread : {&leaves, &stays, &caller}) thread->join();
  }
}

TEST(RankCallbacks, AreForThreadsOfTheirRankOnly) {
  Counted callbacks;
  Identity identity;
  identity.callbacks = &callbacks;
  EXPECT_EQ(RankCallbacks::expected_here(), nullptr);
  std::thread([&] {
    adopt_identity(&identity);
    EXPECT_EQ(RankCallbacks::expected_here(), nullptr);
    callbacks.expect(1);
    EXPECT_EQ(RankCallbacks::expected_here(), &callbacks);
    callbacks.expect(-1);
    EXPECT_EQ(RankCallbacks::expected_here(), nullptr);
  }).join();
}

}  // namespace
}  // namespace clump::fiber
