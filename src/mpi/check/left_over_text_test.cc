#include "mpi/check/left_over_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace clump::mpi::left_over {
namespace {

Told told(Kind kind, int rank, std::string origin, int count = 1) {
  return {{.kind = kind, .rank = rank, .count = count}, std::move(origin), {}};
}
Told message(int rank, int source, std::string origin, std::string words, int count = 1) {
  return {{.kind = Kind::kMessage, .rank = rank, .source = source, .count = count},
          std::move(origin),
          std::move(words)};
}
Told remark(Kind kind, int rank, std::string words) {
  return {{.kind = kind, .rank = rank, .count = 1}, {}, std::move(words)};
}

TEST(LeftOverText, ComesBackAsItWas) {
  const std::vector<Told> mine{message(3, 1, "MPI_Isend at a.c:1", "MPI_Isend(4 x MPI_INT)", 7),
                               told(Kind::kFile, 3, "")};
  const std::vector<Told> others{remark(Kind::kRemark, 5, "waited")};
  EXPECT_EQ(encode({}), "");
  EXPECT_TRUE(decode("").empty());
  const std::vector<Told> all = decode(encode(mine) + encode({}) + encode(others));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].head.kind, Kind::kMessage);
  EXPECT_EQ(all[0].head.rank, 3);
  EXPECT_EQ(all[0].head.source, 1);
  EXPECT_EQ(all[0].head.count, 7);
  EXPECT_EQ(all[0].origin, "MPI_Isend at a.c:1");
  EXPECT_EQ(all[0].words, "MPI_Isend(4 x MPI_INT)");
  EXPECT_EQ(all[1].head.kind, Kind::kFile);
  EXPECT_EQ(all[1].head.source, -1);
  EXPECT_EQ(all[1].origin + all[1].words, "");
  EXPECT_EQ(all[2].head.rank, 5);
  EXPECT_EQ(all[2].words, "waited");
}

TEST(LeftOverText, CountsOneAndSeveral) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({told(Kind::kComm, 2, "MPI_Comm_dup at a.c:1")}),
            "\n  rank 2 has not freed 1 communicator of MPI_Comm_dup at a.c:1");
  EXPECT_EQ(text_of({told(Kind::kFile, 0, "MPI_File_open", 3)}),
            "\n  rank 0 has not closed 3 files of MPI_File_open");
}

TEST(LeftOverText, TellsWhatSeveralRanksHaveInCommonOnce) {
  const auto of_ranks = [](const std::vector<int>& ranks) {
    std::vector<Told> all;
    for (const int rank : ranks) all.push_back(told(Kind::kGroup, rank, "f"));
    return text_of(all);
  };
  EXPECT_EQ(of_ranks({1, 0}), "\n  ranks 0,1 have not freed 1 group each of f");
  EXPECT_EQ(of_ranks({2, 0, 1}), "\n  ranks 0-2 have not freed 1 group each of f");
  EXPECT_EQ(of_ranks({5, 0, 9, 2, 1, 8, 7, 11}), "\n  ranks 0-2,5,7-9,11 have not freed 1 group each of f");
  EXPECT_EQ(text_of({told(Kind::kGroup, 0, "f"), told(Kind::kGroup, 1, "g"), told(Kind::kGroup, 2, "f", 2)}),
            "\n  rank 0 has not freed 1 group of f\n  rank 2 has not freed 2 groups of f"
            "\n  rank 1 has not freed 1 group of g");
}

TEST(LeftOverText, IsInTheOrderOfKinds) {
  EXPECT_EQ(text_of({told(Kind::kWindow, 0, "w"), told(Kind::kRequest, 1, "r"), told(Kind::kComm, 2, "c")}),
            "\n  rank 2 has not freed 1 communicator of c\n  rank 0 has not freed 1 window of w"
            "\n  rank 1 has not completed 1 request of r");
}

TEST(LeftOverText, NamesTheSendersOfMessages) {
  EXPECT_EQ(text_of({message(1, 0, "MPI_Send", "MPI_Send(1 x MPI_INT, tag 7)")}),
            "\n  rank 1 has not received 1 message of rank 0: MPI_Send(1 x MPI_INT, tag 7)");
  EXPECT_EQ(text_of({message(1, 0, "f", "m", 2), message(3, 2, "f", "m", 2)}),
            "\n  ranks 1,3 have not received 2 messages each of ranks 0,2: m");
  EXPECT_EQ(text_of({message(1, -1, "f", "m")}), "\n  rank 1 has not received 1 message: m")
      << "its communicator is gone, and so is the number of its sender";
}

TEST(LeftOverText, HasTheWordsOfReceives) {
  Told receive = told(Kind::kReceive, 4, "MPI_Irecv at a.c:3");
  receive.words = "MPI_Irecv(from rank 2)";
  EXPECT_EQ(text_of({receive}), "\n  rank 4 has got no message for 1 receive: MPI_Irecv(from rank 2)");
}

TEST(LeftOverText, TellsRemarksAsTheyAre) {
  EXPECT_EQ(
      text_of({remark(Kind::kRemark, 1, "waited for nothing"), remark(Kind::kUncommon, 0, "sends twice")}),
      "\n  rank 1 waited for nothing\n  rank 0: sends twice");
}

TEST(LeftOverText, LeavesOutRequestsWhoseMessagesAreTold) {
  std::vector<Told> all{
      told(Kind::kRequest, 0, "MPI_Isend at a.c:1", 3), told(Kind::kRequest, 1, "MPI_Isend at a.c:1"),
      told(Kind::kRequest, 0, "MPI_Isend at a.c:2"), message(1, 0, "MPI_Isend at a.c:1", "m", 2)};
  forget_told_twice(all);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].head.count, 1) << "two of three requests belong to the messages";
  EXPECT_EQ(all[1].head.count, 1) << "of another rank";
  EXPECT_EQ(all[2].head.count, 1) << "of another call";
  all.push_back(message(2, 0, "MPI_Isend at a.c:1", "m", 2));
  all.push_back(message(3, 0, "MPI_Isend at a.c:2", "m"));
  forget_told_twice(all);
  ASSERT_EQ(all.size(), 4u) << "both requests of rank 0 are gone";
  EXPECT_EQ(all[0].head.rank, 1);
  EXPECT_EQ(all[0].head.kind, Kind::kRequest);
  EXPECT_EQ(all[1].head.kind, Kind::kMessage);
}

}  // namespace
}  // namespace clump::mpi::left_over
