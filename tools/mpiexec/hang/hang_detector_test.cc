#include "hang/hang_detector.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <string>
#include <thread>
#include <vector>

#include "cluster/connection.h"
#include "pmi/waits.h"

namespace clump::mpiexec {
namespace {

using Kind = ControlMessage::Kind;
using Finding = HangDetector::Finding;

/// Two hosts with two ranks each.
pmi::Job two_hosts() {
  pmi::Job job;
  job.apps.emplace_back().ranks = 4;
  job.processes = {{0, 2, false}, {2, 2, false}};
  job.nodes = {{"a", 0, 1}, {"b", 1, 1}};
  return job;
}

/// What a host says that rests.
ControlReply at_rest(std::uint32_t number, std::uint64_t wakes, std::uint64_t sent, std::uint64_t taken) {
  return {.kind = ControlReply::Kind::kChecked,
          .number = number,
          .holds = true,
          .waiting = 1,
          .wakes = wakes,
          .sent = sent,
          .taken = taken};
}

struct WatchedHosts : testing::Test {
  const pmi::Job job = two_hosts();
  HangDetector detector{job, 0};
  std::string text;

  WatchedHosts() {
    detector.admit(0);
    detector.admit(1);
  }
  /// The message that is given now; fails if there is none of this kind.
  std::uint32_t expect(Kind kind) {
    ControlMessage message;
    EXPECT_TRUE(detector.next(message));
    EXPECT_EQ(message.kind, kind);
    return message.number;
  }
  void expect_none() {
    ControlMessage message;
    EXPECT_FALSE(detector.next(message)) << static_cast<int>(message.kind);
  }
  void rest(int host) { detector.take(host, {.kind = ControlReply::Kind::kRests}); }
  /// Both answer the check that is asked now.
  void check(std::uint64_t wakes, std::uint64_t sent, std::uint64_t taken) {
    const std::uint32_t number = expect(Kind::kCheck);
    detector.take(0, at_rest(number, wakes, sent, 0));
    expect_none();
    detector.take(1, at_rest(number, 5, 0, taken));
  }
  void account(int host, std::uint32_t number) {
    detector.take(host, {.kind = ControlReply::Kind::kAccount,
                         .number = number,
                         .holds = true,
                         .bytes = pmi::encode(pmi::Account{})});
  }
  void answer_question() {
    const std::uint32_t number = expect(Kind::kAccount);
    account(0, number);
    EXPECT_EQ(detector.poll(text), Finding::kNothing);
    account(1, number);
  }
  /// Two checks have found the same, and both have told; the third check is asked.
  void seem_stuck() {
    rest(0);
    rest(1);
    check(1, 7, 7);
    check(1, 7, 7);
    answer_question();
    EXPECT_EQ(detector.poll(text), Finding::kNothing);
  }
};

TEST_F(WatchedHosts, AreLeftAloneUntilAllRest) {
  expect_none();
  rest(0);
  rest(0);
  expect_none();
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
}

TEST_F(WatchedHosts, AreStuckIfNothingChangesUntilAllHaveTold) {
  seem_stuck();
  check(1, 7, 7);
  EXPECT_EQ(detector.poll(text), Finding::kDeadlock);
  EXPECT_NE(text.find("on 2 hosts: a (ranks 0-1), b (ranks 2-3)"), text.npos) << text;
}

TEST_F(WatchedHosts, AreStuckIfTheOnlyProcessHasFoundSoItself) {
  account(0, 0);
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  detector.take(0, {.kind = ControlReply::Kind::kDeadlock});
  EXPECT_EQ(detector.poll(text), Finding::kDeadlock);
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
}

TEST_F(WatchedHosts, AreNotStuckWhileSomethingIsOnItsWay) {
  rest(0);
  rest(1);
  check(1, 8, 7);
  expect_none();  // for a while
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(detector.alarm());
    std::this_thread::sleep_until(*detector.alarm());
    EXPECT_EQ(detector.poll(text), Finding::kNothing);
    check(1, 8, 7);
  }
  std::this_thread::sleep_until(*detector.alarm());
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  check(1, 8, 8);  // it came, and nobody has woken
  check(1, 8, 8);
  expect(Kind::kAccount);
}

TEST_F(WatchedHosts, AreNotStuckIfOneHasWokenBetweenChecks) {
  rest(0);
  rest(1);
  check(1, 7, 7);
  check(2, 7, 7);
  check(2, 8, 8);
  check(2, 8, 8);
  expect(Kind::kAccount);
}

TEST_F(WatchedHosts, AreNotStuckIfOneHasWokenWhileAllTold) {
  seem_stuck();
  check(2, 8, 8);
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  check(2, 8, 8);
  answer_question();  // again
}

TEST_F(WatchedHosts, AreLeftAloneAfterOneIsAwake) {
  rest(0);
  rest(1);
  const std::uint32_t number = expect(Kind::kCheck);
  detector.take(0, {.kind = ControlReply::Kind::kChecked, .number = number});
  detector.take(1, at_rest(number, 1, 0, 0));
  expect_none();
  rest(0);
  check(1, 0, 0);
}

TEST_F(WatchedHosts, AreNotStuckIfAllAreDone) {
  rest(0);
  rest(1);
  const std::uint32_t number = expect(Kind::kCheck);
  for (const int host : {0, 1}) {
    ControlReply done = at_rest(number, 1, 0, 0);
    done.waiting = 0;
    detector.take(host, done);
  }
  expect_none();
  EXPECT_FALSE(detector.alarm());
}

TEST_F(WatchedHosts, WhoseProcessesHaveEndedAreNotAsked) {
  detector.take(0, {.kind = ControlReply::Kind::kOver});
  rest(1);
  for (int i = 0; i < 2; ++i) detector.take(1, at_rest(expect(Kind::kCheck), 1, 0, 0));
  account(1, expect(Kind::kAccount));
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  detector.take(1, at_rest(expect(Kind::kCheck), 1, 0, 0));
  EXPECT_EQ(detector.poll(text), Finding::kDeadlock);
  EXPECT_NE(text.find("ranks 0,1 have ended"), text.npos) << text;
}

TEST_F(WatchedHosts, ThatAreLostAreNeverStuck) {
  rest(0);
  rest(1);
  const std::uint32_t number = expect(Kind::kCheck);
  detector.take(0, at_rest(number, 1, 0, 0));
  detector.lose(1);
  rest(0);
  expect_none();
}

TEST_F(WatchedHosts, AreAskedForTheUser) {
  detector.ask();
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kAsked);
  EXPECT_EQ(text.find("not answered"), text.npos) << text;
}

TEST_F(WatchedHosts, ThatDoNotAnswerAreWaitedForNotForEver) {
  detector.ask();
  account(0, expect(Kind::kAccount));
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  std::this_thread::sleep_until(*detector.alarm());
  EXPECT_EQ(detector.poll(text), Finding::kAsked);
  EXPECT_NE(text.find("ranks 2,3 are on hosts that have not answered"), text.npos) << text;
}

TEST_F(WatchedHosts, ThatAreLostAreNotWaitedFor) {
  detector.ask();
  account(0, expect(Kind::kAccount));
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  detector.lose(1);
  EXPECT_EQ(detector.poll(text), Finding::kAsked);
}

TEST_F(WatchedHosts, AreAskedForTheUserThoughOneDoesNotAnswerACheck) {
  seem_stuck();
  detector.take(0, at_rest(expect(Kind::kCheck), 1, 7, 0));
  detector.ask();
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kAsked);
}

TEST_F(WatchedHosts, AreAskedAgainIfTheUserCameBetween) {
  rest(0);
  rest(1);
  check(1, 7, 7);
  check(1, 7, 7);
  detector.ask();
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  check(2, 7, 7);
  expect(Kind::kCheck);
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kNothing);
  answer_question();
  EXPECT_EQ(detector.poll(text), Finding::kAsked);
}

TEST(Hang, IsWhenNothingMovesWhileAllAreInMpi) {
  const pmi::Job job = two_hosts();
  HangDetector detector(job, 1);
  detector.admit(0);
  detector.admit(1);
  std::string text;
  ControlMessage message;
  int looks = 0;
  while (detector.next(message) && message.kind == Kind::kProgress) {
    ASSERT_LT(looks, 8);
    // The first look finds nothing yet, and before the third something moves.
    const bool in_mpi = looks > 0;
    const std::uint64_t progress = looks < 2 ? 3 : 4;
    for (const int host : {0, 1})
      detector.take(host, {.kind = ControlReply::Kind::kProgress,
                           .number = message.number,
                           .holds = in_mpi,
                           .progress = progress});
    ++looks;
    std::this_thread::sleep_until(*detector.alarm());
    EXPECT_EQ(detector.poll(text), Finding::kNothing);
  }
  EXPECT_EQ(message.kind, Kind::kAccount);
  EXPECT_EQ(looks, 7);
}

TEST(ControlMessages, AndRepliesAreReadAsTheyWereWritten) {
  ControlMessage message;
  EXPECT_TRUE(decode(encode(ControlMessage{Kind::kSignal, 10}), message));
  EXPECT_EQ(message.kind, Kind::kSignal);
  EXPECT_EQ(message.number, 10u);
  ControlReply reply;
  EXPECT_TRUE(decode(encode(at_rest(3, 4, 5, 6)), reply));
  EXPECT_EQ(reply.taken, 6u);
  EXPECT_FALSE(decode(std::string(1, 'x'), reply));
  EXPECT_FALSE(decode(std::string(5, '\x7f'), message));
}

TEST(Connections, KeepMessagesApartAndDoNotBlock) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Connection one(ends[0]), other(ends[1]);
  const std::string large(4 << 20, 'x');
  one.send("short");
  one.send(large);
  one.send("");
  std::string message;
  EXPECT_FALSE(other.receive(message));
  for (std::vector<std::string> got; got.size() < 3;) {
    one.transfer();
    other.transfer();
    while (other.receive(message)) {
      EXPECT_EQ(message, got.empty() ? "short" : got.size() == 1 ? large : "");
      got.push_back(message);
    }
  }
  one = Connection();
  other.transfer();
  EXPECT_FALSE(other.is_open());
}

}  // namespace
}  // namespace clump::mpiexec
