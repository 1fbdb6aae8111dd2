#include "host/proc_text.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstdio>
#include <string>

namespace clump::host {
namespace {

/// As the kernel writes it: the number, six arguments, the stack pointer and the program counter.
FutexWait waits_in(int operation, const std::string& limit, long call = SYS_futex) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", operation);
  return futex_wait_of(std::to_string(call) + " 0x7f12345678 " + text + " 0x2 " + limit +
                       " 0x0 0xffffffff 0x7ffc00 0x7f0012\n");
}

TEST(FutexWaitOf, AThreadThatSleepsWithoutEnd) {
  for (const int operation :
       {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_LOCK_PI2, FUTEX_WAIT_REQUEUE_PI}) {
    EXPECT_EQ(waits_in(operation, "0x0"), (FutexWait{0x7f12345678, false})) << operation;
    EXPECT_EQ(waits_in(operation | FUTEX_PRIVATE_FLAG, "0x0"), (FutexWait{0x7f12345678, true})) << operation;
    EXPECT_EQ(waits_in(operation | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, "0x0"),
              (FutexWait{0x7f12345678, true}));
  }
}

TEST(FutexWaitOf, NoThreadThatCanGoOnByItself) {
  EXPECT_EQ(waits_in(FUTEX_WAIT, "0x7ffc1230").address, 0u) << "it has a limit of time";
  EXPECT_EQ(waits_in(FUTEX_WAKE, "0x0").address, 0u);
  EXPECT_EQ(waits_in(FUTEX_CMP_REQUEUE, "0x0").address, 0u);
  EXPECT_EQ(waits_in(FUTEX_WAIT, "0x0", SYS_futex + 1).address, 0u);
  EXPECT_EQ(futex_wait_of("running\n").address, 0u);
  EXPECT_EQ(futex_wait_of("-1 0x7ffc00 0x7f0012\n").address, 0u);
  EXPECT_EQ(futex_wait_of("").address, 0u);
}

TEST(FutexWaitOf, ALineThatIsCutOff) {
  EXPECT_EQ(futex_wait_of(std::to_string(SYS_futex) + " 0x7f12345678 0x0 0x2").address, 0u)
      << "whether there is a limit of time is not known";
}

TEST(SwitchesOf, AreThoseThatTheThreadHasMade) {
  EXPECT_EQ(switches_of("Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n"), 150u);
  EXPECT_EQ(switches_of("Name:\tx\nnonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches: \t3"), 3u);
  EXPECT_EQ(switches_of("Name:\tx\nnonvoluntary_ctxt_switches:\t7\n"), kNoSwitches);
  EXPECT_EQ(switches_of("Name:\tvoluntary_ctxt_switches:\t9\n"), kNoSwitches)
      << "a name that the program has chosen";
  EXPECT_EQ(switches_of("Name:\tx\nvoluntary_ctxt_switches:\t\n"), kNoSwitches);
  EXPECT_EQ(switches_of(""), kNoSwitches);
}

}  // namespace
}  // namespace clump::host
