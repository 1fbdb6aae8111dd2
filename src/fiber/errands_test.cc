// A rank's threads are called out of their waits to do errands, and go on waiting.
#include "fiber/errands.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "fiber/completion.h"
#include "fiber/identity.h"

namespace clump::fiber {
namespace {

struct Counted final : Errands {
  bool any() const noexcept override { return left.load() > done.load(); }
  void run() override {
    for (int before = done.load(); before < left.load();)
      if (done.compare_exchange_weak(before, before + 1)) by = std::this_thread::get_id();
  }
  void leave() {
    ++left;
    call();
  }
  std::atomic<int> left{0}, done{0};
  std::atomic<std::thread::id> by;
};

void wait_until_done(const Counted& errands, int number) {
  while (errands.done.load() < number) std::this_thread::yield();
}

TEST(Errands, AreDoneByWhoWaits) {
  for (const bool several : {false, true}) {
    Counted errands;
    Identity identity;
    identity.errands = &errands;
    errands.expect(1);
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
      errands.leave();
      wait_until_done(errands, i);
    }
    first.signal();
    waiter.join();
    EXPECT_EQ(errands.by.load(), id);
  }
}

TEST(Errands, AreNotLostWhenTheOneCalledHasGone) {
  constexpr int kRounds = 300;
  Counted errands;
  Identity identity;
  identity.errands = &errands;
  errands.expect(1);
  for (int round = 1; round <= kRounds; ++round) {
    Completion soon;
    Completion late;
    const auto wait = [&identity](Completion& completion) {
      adopt_identity(&identity);
      completion.wait();
    };
    std::thread leaves([&] { wait(soon); });
    std::thread stays([&] { wait(late); });
    std::thread caller([&] { errands.leave(); });
    soon.signal();
    wait_until_done(errands, round);  // by one of the two
    late.signal();
    for (std::thread* thread : {&leaves, &stays, &caller}) thread->join();
  }
}

TEST(Errands, AreForThreadsOfTheirRankOnly) {
  Counted errands;
  Identity identity;
  identity.errands = &errands;
  EXPECT_EQ(Errands::expected_here(), nullptr);
  std::thread([&] {
    adopt_identity(&identity);
    EXPECT_EQ(Errands::expected_here(), nullptr);
    errands.expect(1);
    EXPECT_EQ(Errands::expected_here(), &errands);
    errands.expect(-1);
    EXPECT_EQ(Errands::expected_here(), nullptr);
  }).join();
}

}  // namespace
}  // namespace clump::fiber
