// How often polls that find nothing offer the core. The threads are kernel threads here: fibers of a process
// that shares its cores do the same, after they have let one another run.
#include "fiber/polling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "fiber/completion.h"

namespace clump::fiber {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPolls = 20'000;

/// How often the core is offered in so many polls, each of which begins so long after the one before.
double offers_a_poll(std::chrono::nanoseconds work) {
  double offers = 0;
  std::thread([&] {
    for (int poll = 0; poll < kPolls; ++poll) {
      if (work.count() > 0)
        for (const auto end = Clock::now() + work; Clock::now() < end;) {
        }
      look_begins();
      yield_after_empty_poll();
    }
    offers = static_cast<double>(offers_after_empty_polls());
  }).join();
  return offers / kPolls;
}

/// What two looks at the clock tell of the time between them, at least.
std::chrono::nanoseconds cost_of_clock() {
  std::chrono::nanoseconds least = std::chrono::seconds(1);
  for (int i = 0; i < 1000; ++i) {
    const auto before = Clock::now();
    least = std::min<std::chrono::nanoseconds>(least, Clock::now() - before);
  }
  return least;
}

TEST(Polling, ARankThatOnlyPollsOffersTheCoreEachTime) {
  if (cost_of_clock() > std::chrono::nanoseconds(40))
    GTEST_SKIP() << "a look at the clock takes as long as work";
  set_spinning(false);
  // Not quite each time: what interrupts the thread looks like work, and then some polls are not measured.
  EXPECT_GT(offers_a_poll({}), 0.5);
}

TEST(Polling, ARankThatWorksBetweenPollsKeepsTheCore) {
  set_spinning(false);
  EXPECT_LT(offers_a_poll(std::chrono::nanoseconds(500)), 0.25);
}

TEST(Polling, ARankThatWorksForLongOffersTheCoreNowAndThen) {
  set_spinning(false);
  EXPECT_GT(offers_a_poll(std::chrono::microseconds(20)), 0.05);
}

TEST(Polling, ARankWithACoreOfItsOwnOffersItNowAndThen) {
  set_spinning(true);
  EXPECT_GT(offers_a_poll({}), 0);
  EXPECT_LT(offers_a_poll({}), 0.25);
  set_spinning(false);
}

}  // namespace
}  // namespace clump::fiber
