#include "diag/waits.h"
#include "diag/rank_names.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diag/symbolize.h"

namespace clump::diag {
namespace {

using pmi::Awaited;
using State = pmi::Standing::State;

constexpr pmi::CommKey kWorld{0, 0};
constexpr pmi::CommKey kPart{8, 1};

/// A job of so many ranks that all use MPI.
pmi::Account account_of(int ranks) {
  pmi::Account account;
  account.comms = {{kWorld, "MPI_COMM_WORLD", {}}, {kPart, "", {1, 3}}};
  for (int rank = 0; rank < ranks; ++rank) account.standings.push_back({rank, State::kUses, ""});
  return account;
}

Awaited receive(int source, int tag) {
  return {.kind = Awaited::Kind::kReceive, .comm = kWorld, .peer = source, .tag = tag};
}
Awaited collective(pmi::CommKey comm, int sequence = -1) {
  return {.kind = Awaited::Kind::kCollective, .comm = comm, .sequence = sequence};
}

TEST(Ranks, AreWrittenInRuns) {
  EXPECT_EQ(ranks_text({4}), "rank 4");
  EXPECT_EQ(ranks_text({0, 1, 3, 4, 5}), "ranks 0,1,3-5");
  std::vector<int> even;
  for (int rank = 0; rank < 100; rank += 2) even.push_back(rank);
  EXPECT_EQ(ranks_text(even), "ranks 0,2,4,6,8,10,12,14,16,18,20,22,... (50 in all)");
}

TEST(Symbolizer, CallsAreToldByTheNamesThatUsersKnow) {
  for (const char* name :
       {"PMPI_Wait", "MPI_Wait", "PMPI_Wait.localalias", "Wait(char const*, MPI_ABI_Request**)",
        "checked_Wait(char const*)", "recorded_Wait(char const*) [clone .isra.0]",
        "clump::mpi::(anonymous namespace)::checked_Wait(char const*)"})
    EXPECT_EQ(mpi_call(name), "MPI_Wait") << name;
  EXPECT_EQ(mpi_call("clump::mpi::wait(clump::core::Rank&)"), "MPI");
  EXPECT_EQ(mpi_call(""), "MPI");
}

TEST(Waits, RanksThatWaitAlikeAreOneLine) {
  std::vector<Wait> waits;
  for (int rank = 0; rank < 5; ++rank)
    waits.push_back({rank, "MPI_Recv", "at a.c:3", {receive((rank + 1) % 5, 0)}});
  EXPECT_EQ(waits_text(Scene(waits, account_of(5), 5), true),
            "  ranks 0-4 wait in MPI_Recv(source rank+1, tag 0, MPI_COMM_WORLD) at a.c:3: that rank never "
            "sends it; it waits in "
            "MPI_Recv\n"
            "  in a circle: rank 0 waits for rank 1 waits for rank 2 waits for rank 3 waits for rank 4 waits "
            "for rank 0\n");
}

TEST(Waits, HalfWayRoundARankBeforeIsToldAsSuch) {
  std::vector<Wait> waits;
  for (int rank = 2; rank < 4; ++rank)
    waits.push_back({rank, "MPI_Recv", "at a.c:3", {receive(rank - 2, 0)}});
  const std::string text = waits_text(Scene(waits, account_of(4), 4), true);
  EXPECT_NE(text.find("ranks 2,3 wait in MPI_Recv(source rank-2, tag 0, MPI_COMM_WORLD)"), text.npos) << text;
}

TEST(Waits, RanksThatWaitForOneAreOneLine) {
  std::vector<Wait> waits{{0, "MPI_Barrier", "at a.c:9", {collective(kWorld)}}};
  for (int rank = 1; rank < 4; ++rank) waits.push_back({rank, "MPI_Recv", "at a.c:3", {receive(0, 7)}});
  const std::string text = waits_text(Scene(waits, account_of(4), 4), true);
  EXPECT_NE(text.find("ranks 1-3 wait in MPI_Recv(source 0, tag 7, MPI_COMM_WORLD) at a.c:3: rank 0 never "
                      "sends it; it waits in "
                      "MPI_Barrier\n"),
            text.npos)
      << text;
  EXPECT_NE(text.find("rank 0 waits in MPI_Barrier at a.c:9 (MPI_COMM_WORLD): ranks 1-3 do not take part "
                      "(each: it waits in "
                      "MPI_Recv)\n"),
            text.npos)
      << text;
}

TEST(Waits, OfACollectiveByMessagesThoseAreMissingThatHaveNotBegunIt) {
  pmi::Account account = account_of(4);
  account.begun = {{1, kPart, 5}, {3, kPart, 4}};
  const Scene scene({{1, "MPI_Bcast", "", {collective(kPart, 4)}}}, std::move(account), 4);
  EXPECT_EQ(scene.missing(scene.waits().front().items.front()), std::vector<int>{3});
}

TEST(Waits, RanksInAnotherStepOfTheCallTakePart) {
  pmi::Account account = account_of(3);
  account.begun = {{0, kWorld, 5}, {1, kWorld, 4}, {2, kWorld, 3}};
  const std::string text = waits_text(Scene({{0, "MPI_Comm_split", "at a.c:5", {collective(kWorld, 4)}},
                                             {1, "MPI_Comm_split", "at a.c:5", {collective(kWorld, 3)}},
                                             {2, "MPI_Recv", "at a.c:6", {receive(0, 7)}}},
                                            std::move(account), 3),
                                      true);
  EXPECT_NE(
      text.find("  ranks 0,1 wait in MPI_Comm_split at a.c:5 (MPI_COMM_WORLD): rank 2 does not take part "
                "(it waits in MPI_Recv)\n"),
      text.npos)
      << text;
}

TEST(Waits, WhatLiesThereInsteadIsTold) {
  pmi::Account account = account_of(3);
  account.unmatched = {{0, 1, 8, kWorld, 4, 2}, {0, 2, 7, kWorld, 16, 1}, {0, 1, 7, kPart, 4, 1}};
  const Scene scene({{0, "MPI_Recv", "", {receive(1, 7)}}}, std::move(account), 3);
  const auto hints = scene.hints(scene.waits().front(), scene.waits().front().items.front(), false);
  EXPECT_EQ(hints,
            (std::vector<std::string>{"it sent tag 8 instead: 2 messages of 4 bytes wait unmatched",
                                      "rank 2 sent one with tag 7: 1 message of 16 bytes waits unmatched"}));
}

TEST(Waits, ThreadsOfOneRankMakeNoCircle) {
  const Scene scene({{0, "MPI_Recv", "", {receive(0, 1)}}, {0, "MPI_Recv", "", {receive(0, 2)}}},
                    account_of(1), 1);
  EXPECT_TRUE(scene.cycle(nullptr).empty());
}

TEST(Waits, WhatHasEndedOrRunsIsTold) {
  pmi::Account account = account_of(3);
  account.standings = {{0, State::kUses, "MPI_Test"}, {1, State::kEnded, ""}, {2, State::kUses, ""}};
  account.standings.push_back({3, State::kUses, "", 0, {{"/a/step.py", 7, "Solver.step"}}});
  EXPECT_EQ(waits_text(Scene({{2, "", "at b.c:1", {}}}, std::move(account), 4), false),
            "  rank 2 is outside MPI at b.c:1\n"
            "  rank 3 runs at step.py:7, in Solver.step, outside MPI\n"
            "  rank 0 runs; the last call of MPI was MPI_Test\n"
            "  rank 1 has ended\n");
}

TEST(Waits, OfManyWaysAtOnePlaceTheFirstAreTold) {
  std::vector<Wait> waits;
  for (int rank = 0; rank < 100; ++rank)
    waits.push_back({rank, "MPI_Recv", "at a.c:3", {receive(rank * rank % 101 % 100, rank)}});
  const std::string text = waits_text(Scene(waits, account_of(100), 100), false);
  EXPECT_EQ(std::ranges::count(text, '\n'), 5) << text;
  EXPECT_NE(text.find("ranks 4-99 wait in MPI_Recv at a.c:3, too, in 96 other ways\n"), text.npos) << text;
}

TEST(Waits, OfAThousandDifferentOnesTheCircleIsCutShort) {
  std::vector<Wait> waits;
  for (int rank = 0; rank < 1000; ++rank)
    waits.push_back({rank, "MPI_Recv", "", {receive((rank + 1) % 1000, 0)}});
  const std::string text = waits_text(Scene(waits, account_of(1000), 1000), true);
  EXPECT_LT(text.size(), 500u) << text;
  EXPECT_NE(text.find("(1000 ranks in all) waits for rank 999 waits for rank 0"), text.npos) << text;
}

TEST(Waits, CirclesAreToldWhileTheJobGoesOnIfTheirRanksStay) {
  pmi::Account first = account_of(3), second;
  for (int rank = 0; rank < 3; ++rank) first.waiters.push_back({rank, {}, {receive(rank ^ 1, 0)}});
  second = first;
  EXPECT_EQ(settled_ranks(first, second), (std::set<int>{0, 1, 2}));
  const auto text_of = [](const pmi::Account& account, const std::set<int>& settled) {
    return waits_text(scene_of(account, 3), false, settled);
  };
  EXPECT_NE(text_of(second, {0, 1, 2}).find("  in a circle: rank 0 waits for rank 1 waits for rank 0\n"),
            std::string::npos);
  second.standings[1].moved = 1;
  EXPECT_EQ(settled_ranks(first, second), (std::set<int>{0, 2}));
  EXPECT_EQ(text_of(second, {0, 2}).find("circle"), std::string::npos);
  second = first;
  second.waiters[0].items = {receive(1, 3)};
  second.waiters.push_back(second.waiters[1]);  // a second thread
  EXPECT_EQ(settled_ranks(first, second), (std::set<int>{2}));
}

TEST(Waits, ACircleThroughSeveralCommunicatorsTellsWhich) {
  pmi::Account account = account_of(2);
  account.comms = {{kWorld, "MPI_COMM_WORLD", {}}, {kPart, "halo", {}}};
  Awaited other = receive(0, 0);
  other.comm = kPart;
  const std::vector<Wait> waits{{0, "MPI_Recv", "", {receive(1, 0)}}, {1, "MPI_Recv", "", {other}}};
  const std::string text = waits_text(Scene(waits, std::move(account), 2), true);
  EXPECT_NE(
      text.find("  in a circle: rank 0 waits for rank 1 (in MPI_COMM_WORLD) waits for rank 0 (in halo)\n"),
      text.npos)
      << text;
}

TEST(Waits, WhatMovesIsNoCircle) {
  Awaited send = receive(0, 0);
  send.kind = Awaited::Kind::kSend;
  const auto circle = [](Awaited one, Awaited other) {
    return Scene({{0, "MPI_Recv", "", {one}}, {1, "MPI_Send", "", {other}}}, account_of(2), 2).cycle(nullptr);
  };
  EXPECT_TRUE(circle(receive(1, 0), send).empty());
  EXPECT_TRUE(circle(receive(1, Awaited::kAny), send).empty());
  EXPECT_EQ(circle(receive(1, 1), send).size(), 2u);
}

TEST(RankNames, RanksOfOtherJobsHaveTheirOwnNumber) {
  for (int rank = 0; rank < 3; ++rank) name_other({3000 - rank, rank, 77});
  name_other({4000, 5, 78});
  EXPECT_EQ(rank_name(2999), "1 of another job");
  EXPECT_EQ(ranks_text({0, 3000, 2999, 2998}), "rank 0 and ranks 0-2 of another job");
  EXPECT_EQ(ranks_text({3000}), "rank 0 of another job");
  EXPECT_EQ(ranks_text({0, 1, 3000, 4000}), "ranks 0,1 and ranks 0,5 of other jobs");
}

TEST(Waits, RanksOfOtherJobsAreNotAsked) {
  name_other({3000, 0, 77});
  pmi::Account account = account_of(1);
  account.comms = {{kPart, "", {0, 3000}}};
  Awaited message = receive(3000, 9);
  message.comm = kPart;
  const std::string text = waits_text(Scene({{0, "MPI_Recv", "", {message}}}, std::move(account), 1), false);
  EXPECT_NE(
      text.find(
          "rank 0 waits in MPI_Recv(source 0 of another job, tag 9, a communicator of rank 0 and rank 0 "
          "of another job): rank 0 of another job has not sent it; its job is not asked\n"),
      text.npos)
      << text;
}

TEST(RankNames, RanksOfOtherLaunchesHaveTheirNumber) {
  name_launch({1, 1000, 4});
  name_launch({2, 1004, 3});
  EXPECT_EQ(rank_name(7), "7");
  EXPECT_EQ(rank_name(1003), "1:3");
  EXPECT_EQ(rank_of(1004, 16), "rank 2:0 of 3");
  EXPECT_EQ(rank_of(5, 16), "rank 5 of 16");
  EXPECT_EQ(ranks_text({1000, 1001, 1002, 1003, 1004, 1005, 1006}), "ranks 1:0-1:3,2:0-2:2");
}

}  // namespace
}  // namespace clump::diag
