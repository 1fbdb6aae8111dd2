#include "host/unlisted_timers.h"

#include <gtest/gtest.h>

#include <csignal>
#include <ctime>

namespace clump::host {
namespace {

timer_t make() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGURG;
  timer_t timer{};
  EXPECT_EQ(::timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  return timer;
}
void set(timer_t timer, long seconds) {
  const itimerspec once{{0, 0}, {seconds, 0}};
  EXPECT_EQ(::timer_settime(timer, 0, &once, nullptr), 0);
}

TEST(UnlistedTimers, FindsATimerWithAHighNumber) {
  UnlistedTimers timers;
  EXPECT_FALSE(timers.any_is_set());
  for (int i = 0; i < 1000; ++i) ::timer_delete(make());
  const timer_t early = make();
  for (int i = 0; i < 1000; ++i) ::timer_delete(make());
  const timer_t late = make();
  EXPECT_FALSE(timers.any_is_set()) << "none is set";
  for (const timer_t timer : {early, late}) {
    set(timer, 3600);
    EXPECT_TRUE(timers.any_is_set());
    EXPECT_TRUE(timers.any_is_set()) << "found in an earlier look";
    set(timer, 0);
    EXPECT_FALSE(timers.any_is_set());
  }
  set(late, 3600);
  ::timer_delete(late);
  EXPECT_FALSE(timers.any_is_set());
  ::timer_delete(early);
}

TEST(UnlistedTimers, FindsATimerThatWasMadeBetweenTwoLooks) {
  UnlistedTimers timers;
  EXPECT_FALSE(timers.any_is_set());
  const timer_t timer = make();
  set(timer, 3600);
  EXPECT_TRUE(timers.any_is_set());
  ::timer_delete(timer);
  EXPECT_FALSE(timers.any_is_set());
}

}  // namespace
}  // namespace clump::host
