// A worker that wakes while the monitor goes to sleep. tests/models has all orders of the two.
#include "fiber/watching.h"

#include <gtest/gtest.h>

namespace clump::fiber {
namespace {

TEST(Watching, AWorkerThatWakesAtAnyMomentTellsTheMonitorOrIsSeen) {
  enum Moment { kBefore, kBeforeTheLook, kAfterTheLook, kAfter };
  for (const Moment moment : {kBefore, kBeforeTheLook, kAfterTheLook, kAfter}) {
    Watching watching;
    EXPECT_TRUE(watching.begin());  // the first worker, which then sleeps
    bool asleep = true, told = false;
    const auto wake = [&] {
      asleep = false;
      told = watching.begin();
    };
    if (moment == kBefore) wake();
    const bool goes_on = watching.goes_on([&] {
      if (moment == kBeforeTheLook) wake();
      const bool all_asleep = asleep;
      if (moment == kAfterTheLook) wake();
      return all_asleep;
    });
    if (moment == kAfter) wake();
    EXPECT_TRUE(goes_on || told) << "the monitor sleeps beside a worker that is awake; moment " << moment;
  }
}

TEST(Watching, WorkersThatWakeWhileTheMonitorWatchesDoNotTellIt) {
  Watching watching;
  EXPECT_TRUE(watching.begin());
  EXPECT_TRUE(watching.goes_on([] { return false; }));
  EXPECT_FALSE(watching.begin());
}

TEST(Watching, TheMonitorIsToldOnce) {
  Watching watching;
  EXPECT_FALSE(watching.goes_on([] { return true; }));
  EXPECT_TRUE(watching.begin());
  EXPECT_FALSE(watching.begin());
}

}  // namespace
}  // namespace clump::fiber
