#include "host/proc_text.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstdio>
#include <string>
#include <vector>

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
    EXPECT_EQ(waits_in(operation, "0x0"), (FutexWait{0x7f12345678, false, false})) << operation;
    EXPECT_EQ(waits_in(operation | FUTEX_PRIVATE_FLAG, "0x0"), (FutexWait{0x7f12345678, true, false}))
        << operation;
    EXPECT_EQ(waits_in(operation | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, "0x0"),
              (FutexWait{0x7f12345678, true, false}));
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

TEST(FutexWaitOf, AThreadThatMayWaitForASemaphore) {
  const auto may_be = [](int operation, const std::string& value) {
    return futex_wait_of(std::to_string(SYS_futex) + " 0x7f12345678 " + std::to_string(operation) + " " +
                         value + " 0x0 0x0 0xffffffff 0x7ffc00 0x7f0012\n")
        .may_be_semaphore;
  };
  EXPECT_TRUE(may_be(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, "0x0"));
  EXPECT_FALSE(may_be(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, "0x2"));
  EXPECT_FALSE(may_be(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, "0x0"));
}

TEST(SignalWaitOf, IsTheSetOfAThreadThatWaitsWithoutEnd) {
  const std::string wait = std::to_string(SYS_rt_sigtimedwait) + " 0x7f1234 ";
  EXPECT_EQ(signal_wait_of(wait + "0x7f5678 0x0 0x8 0x0 0x0 0x7ffc00 0x7f0012\n"), 0x7f1234u);
  EXPECT_EQ(signal_wait_of(wait + "0x7f5678 0x7f9abc 0x8 0x0 0x0 0x7ffc00 0x7f0012\n"), 0u);
  EXPECT_EQ(signal_wait_of(wait), 0u);
  EXPECT_EQ(signal_wait_of("running\n"), 0u);
  EXPECT_EQ(signal_wait_of(""), 0u);
}

TEST(NotificationWaitOf, IsTheSocketOfTheCLibrarysThread) {
  const std::string wait = std::to_string(SYS_recvfrom) + " 0x4 0x7f538c81af00 ";
  EXPECT_EQ(notification_wait_of(wait + "0x20 0x4100 0x0 0x0 0x7f538c81aec0 0x7f538c73a974\n"), 4);
  EXPECT_EQ(notification_wait_of(wait + "0x40 0x4100 0x0 0x0 0x7f538c81aec0 0x7f538c73a974\n"), -1);
  EXPECT_EQ(notification_wait_of(wait + "0x20 0x4000 0x0 0x0 0x7f538c81aec0 0x7f538c73a974\n"), -1);
  EXPECT_EQ(notification_wait_of(wait + "0x20 0x4100 0x7f538c 0x7f538d 0x7f538c81aec0 0x7f538c73a974\n"), -1);
  EXPECT_EQ(notification_wait_of("0 0x4 0x7f538c81af00 0x20 0x4100 0x0 0x0 0x7f538c81aec0 0x7f538c73a974\n"),
            -1);
  EXPECT_EQ(notification_wait_of(wait), -1);
  EXPECT_EQ(notification_wait_of("running\n"), -1);
  EXPECT_EQ(notification_wait_of(""), -1);
}

TEST(NotifiedProcessOf, IsWhatTheQueueTells) {
  EXPECT_EQ(notified_process_of("QSIZE:0          NOTIFY:2     SIGNO:0     NOTIFY_PID:27378 \n"), 27378);
  EXPECT_EQ(notified_process_of("QSIZE:1          NOTIFY:0     SIGNO:0     NOTIFY_PID:0     \n"), 0);
  EXPECT_EQ(notified_process_of("QSIZE:1          NOTIFY:0     SIGNO:0\n"), -1);
  EXPECT_EQ(notified_process_of("QSIZE:1 NOTIFY:0 SIGNO:0 NOTIFY_PID:"), -1);
  EXPECT_EQ(notified_process_of(""), -1);
}

TEST(IsZombie, KnowsWhoHasEnded) {
  EXPECT_TRUE(is_zombie("12 (a) Z 1 12"));
  EXPECT_TRUE(is_zombie("12 (x) S (y) Z 1 12"));
  EXPECT_FALSE(is_zombie("12 (Z) S 1 12"));
  // The first thread has ended, and another one goes on.
  EXPECT_FALSE(is_zombie("12 (a) Z 1 12 12 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 2 0 123"));
  EXPECT_TRUE(is_zombie("12 (a) Z 1 12 12 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 123"));
  EXPECT_FALSE(is_zombie("12 (a) Z) R 1 12"));
  EXPECT_FALSE(is_zombie("12 (a)"));
  EXPECT_FALSE(is_zombie(""));
}

TEST(TimerLines, TellsWhichTimersSendASignalByAClock) {
  struct Found {
    int number;
    bool by_clock;
    bool operator==(const Found&) const = default;
  };
  std::vector<Found> found;
  TimerLines lines(74);
  for (const char* const line :
       {"ID: 0\n", "signal: 14/0000000000000000\n", "notify: signal/pid.77\n", "ClockID: 1\n", "ID: 3\n",
        "signal: 0/0000000000000000\n", "notify: none/pid.77\n", "ClockID: 0\n", "ID: 4\n",
        "signal: 32/00007f0000000000\n", "notify: signal/tid.78\n", "ClockID: 2\n", "ID: 5\n",
        "notify: signal/tid.78\n", "ClockID: -598\n", "ID: 6\n", "notify: thread/tid.78\n", "ClockID: 7\n"})
    if (lines.add(line)) found.push_back({lines.number(), lines.goes_by_clock()});
  EXPECT_EQ(found, (std::vector<Found>{{0, true}, {3, false}, {4, false}, {5, false}, {6, true}}));
}

TEST(TimerLines, KnowWhoseProcessorTimeStandsStill) {
  constexpr int kOwn = 74, kOther = 75;
  // As the C library's clock_getcpuclockid() and pthread_getcpuclockid() make them, and FD_TO_CLOCKID of the
  // kernel.
  const auto of_process = [](int number) { return ~number * 8 + 2; };
  const auto of_thread = [](int number) { return ~number * 8 + 6; };
  const auto of_device = [](int descriptor) { return ~descriptor * 8 + 3; };
  const auto goes = [](int clock) {
    TimerLines lines(kOwn);
    return !lines.add("ID: 1\n") && lines.add(("ClockID: " + std::to_string(clock) + "\n").c_str()) &&
           lines.goes_by_clock();
  };
  EXPECT_FALSE(goes(of_process(kOwn)));
  EXPECT_FALSE(goes(of_process(0))) << "whoever asks";
  EXPECT_TRUE(goes(of_process(kOther))) << "it may compute while this process sleeps";
  EXPECT_FALSE(goes(of_thread(kOther))) << "no thread of another process is allowed";
  EXPECT_TRUE(goes(of_device(5)));
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
