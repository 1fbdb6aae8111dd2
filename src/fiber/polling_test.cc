// How often polls that find nothing offer the core: by a clock of the test's own, exactly; and with the
// system's clock, of kernel threads. Fibers of a process that shares its cores do the same, after they have
// let one another run.
#include "fiber/polling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "fiber/completion.h"
#include "fiber/polling_pace.h"

namespace clump::fiber {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A clock that each look moves on by what a look takes, and the test by what it says.
struct OwnClock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<OwnClock>;
  static constexpr bool is_steady = true;
  static constexpr nanoseconds kLook{20};

  static time_point now() noexcept {
    time += kLook;
    return time_point(time);
  }
  static inline nanoseconds time{0};
};

/// A thread that polls, and its core.
struct Poller {
  PollingPace<OwnClock> pace;
  bool spins = false;
  nanoseconds others_run{0};  ///< how long others have the core when it is offered

  /// Polls so often, and each time works so long before. Returns how often the core was offered.
  int poll(int times, nanoseconds work) {
    const std::uint64_t before = pace.offers();
    for (int i = 0; i < times; ++i) {
      OwnClock::time += work;
      pace.note_look();
      pace.end_poll(spins, [this] { OwnClock::time += others_run; });
    }
    return static_cast<int>(pace.offers() - before);
  }
};

constexpr int kPolls = 20'000;
constexpr nanoseconds kLoop{10};  // around a call that polls

TEST(PollingPace, ARankThatOnlyPollsOffersTheCoreEachTime) {
  OwnClock::time = milliseconds(1);
  Poller poller;
  EXPECT_EQ(poller.poll(kPolls, kLoop), kPolls);
  poller.others_run = milliseconds(4);  // that is no work of its own
  EXPECT_EQ(poller.poll(kPolls, kLoop), kPolls);
}

// What interrupts the thread looks like work: some polls are not measured then.
TEST(PollingPace, AnInterruptionCostsAFewOffers) {
  OwnClock::time = milliseconds(1);
  Poller poller;
  poller.poll(100, kLoop);
  OwnClock::time += milliseconds(5);
  EXPECT_GE(poller.poll(100, kLoop), 100 - 2 * PollingPace<OwnClock>::kPollsPerTime);
}

TEST(PollingPace, ARankThatWorksBetweenPollsKeepsTheCore) {
  OwnClock::time = milliseconds(1);
  for (const nanoseconds others_run : {nanoseconds(0), nanoseconds(milliseconds(4))}) {
    Poller poller;
    poller.others_run = others_run;
    poller.poll(100, nanoseconds(500));
    const nanoseconds begin = OwnClock::time;
    const int offers = poller.poll(kPolls, nanoseconds(500));
    const nanoseconds own = OwnClock::time - begin - offers * others_run;
    EXPECT_GT(offers, kPolls / 100);
    EXPECT_LE(offers, own / PollingPace<OwnClock>::kBetweenOffers + 1);
    EXPECT_LT(offers, kPolls / 10);
  }
}

TEST(PollingPace, ARankThatWorksForLongOffersTheCoreNowAndThen) {
  OwnClock::time = milliseconds(1);
  Poller poller;
  poller.poll(100, microseconds(20));
  EXPECT_EQ(poller.poll(kPolls, microseconds(20)), kPolls / PollingPace<OwnClock>::kPollsPerTime);
}

TEST(PollingPace, ARankWithACoreOfItsOwnOffersItNowAndThen) {
  OwnClock::time = milliseconds(1);
  Poller poller;
  poller.spins = true;
  const nanoseconds begin = OwnClock::time;
  const int offers = poller.poll(kPolls, kLoop);
  EXPECT_GT(offers, 0);
  EXPECT_LE(offers, (OwnClock::time - begin) / PollingPace<OwnClock>::kBetweenOffers + 1);
}

/// Polls so often, after work of so many steps each time. Returns how often the core was offered, for each
/// poll.
double offers_a_poll(int polls, int steps) {
  double offers = 0;
  std::thread([&] {
    for (int poll = 0; poll < polls; ++poll) {
      for (volatile int step = 0; step < steps;) step = step + 1;
      look_begins();
      yield_after_empty_poll();
    }
    offers = static_cast<double>(offers_after_empty_polls());
  }).join();
  return offers / polls;
}

/// Whether it comes true in one of many short rounds, which nothing interrupts on any machine now and then.
template <typename Condition>
bool in_some_round(Condition condition) {
  for (int round = 0; round < 1000; ++round)
    if (condition()) return true;
  return false;
}

/// What two looks at the clock tell of the time between them, at least.
nanoseconds cost_of_clock() {
  using Clock = std::chrono::steady_clock;
  nanoseconds least = std::chrono::seconds(1);
  for (int i = 0; i < 1000; ++i) {
    const auto before = Clock::now();
    least = std::min<nanoseconds>(least, Clock::now() - before);
  }
  return least;
}

// That the time between polls that is taken for work is more than a loop of polls takes.
TEST(Polling, ALoopOfPollsIsNoWork) {
  if (cost_of_clock() > nanoseconds(40)) GTEST_SKIP() << "a look at the clock takes as long as work";
  set_spinning(false);
  EXPECT_TRUE(in_some_round([] { return offers_a_poll(200, 0) > 0.5; }));
}

// Thousands of steps take microseconds on any machine.
TEST(Polling, WorkBetweenPollsIsNoticed) {
  set_spinning(false);
  EXPECT_TRUE(in_some_round([] { return offers_a_poll(200, 2000) <= 0.25 + 4.0 / 200; }));
  EXPECT_GT(offers_a_poll(2000, 2000), 0) << "and the core is offered now and then";
}

TEST(Polling, ARankWithACoreOfItsOwnOffersItNowAndThen) {
  set_spinning(true);
  EXPECT_GT(offers_a_poll(kPolls, 0), 0);
  EXPECT_TRUE(in_some_round([] { return offers_a_poll(200, 0) <= 0.25 + 1.0 / 200; }));
  set_spinning(false);
}

}  // namespace
}  // namespace clump::fiber
