#include "coll/select/rules.h"

#include <gtest/gtest.h>

namespace clump::coll {
namespace {

std::string wrong(std::string_view text) {
  RuleText parsed;
  const base::Status status = parse_rules("file", text, parsed);
  EXPECT_NE(status.ok(), true) << text;
  return base::message_of(status.code());
}

std::vector<Rule> parse(std::string_view text) {
  RuleText parsed;
  const base::Status status = parse_rules("file", text, parsed);
  EXPECT_TRUE(status.ok()) << base::message_of(status.code());
  return parsed.rules;
}

/// The shipped rules again, whatever a test has put in front.
struct Rules : testing::Test {
  ~Rules() override { use_rules({}); }
};

TEST_F(Rules, WhatIsPrintedIsRead) {
  std::string lines;
  for (const Rule& rule : shipped_rules())
    if (rule.collective != Collective::kNeighbours) lines += line_text(rule) + "\n";
  const std::vector<Rule> read = parse(lines);
  ASSERT_EQ(read.size(), shipped_rules().size() - 3);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), shipped_rules().begin()));
  EXPECT_EQ(parse(compact_text(read)), read);
  EXPECT_EQ(compact_text(read).find('\n'), std::string::npos);
}

TEST_F(Rules, ALineIsReadAsItIsMeant) {
  const std::vector<Rule> read = parse(
      "# cores: 3; and more\n\n"
      "  allreduce ring the operation commutes ,below 3 KiB,up to 7 ranks, from 2 ranks,\t in one process,"
      "from 100 bytes # why\r\n"
      "scan\tprefix doubling,;barrier direct on one node");
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0], (Rule{Collective::kAllreduce,
                           Algorithm::kRing,
                           {.where = Where::kProcess,
                            .from_ranks = 2,
                            .up_to_ranks = 7,
                            .from_bytes = 100,
                            .below_bytes = 3 << 10,
                            .operations = Operations::kCommutative}}));
  EXPECT_EQ(read[1], (Rule{Collective::kScan, Algorithm::kPrefixDoubling}));
  EXPECT_EQ(read[2].where, Where::kNode);
  RuleText parsed;
  EXPECT_TRUE(parse_rules("file", "# cores: 3\n# cores: many\n", parsed).ok());
  EXPECT_EQ(parsed.cores, 3);
}

TEST_F(Rules, SizesAreExact) {
  EXPECT_EQ(size_text(4097), "4097 bytes");
  EXPECT_EQ(size_text(3 << 10), "3 KiB");
  EXPECT_EQ(size_text(5 << 20), "5 MiB");
  EXPECT_EQ(parse("gather direct below 1 byte")[0].below_bytes, 1);
}

TEST_F(Rules, WhatIsWrongIsNamed) {
  EXPECT_EQ(
      wrong("\n\nallreduc ring").find("file:3: 'allreduc' is no collective operation: there is barrier"), 0u);
  EXPECT_NE(wrong("neighbours direct").find("'neighbours' is no collective operation"), std::string::npos);
  EXPECT_NE(wrong("gather rings").find("gather has no algorithm 'rings': there is binomial tree, direct"),
            std::string::npos);
  EXPECT_NE(wrong("gather").find("gather has no algorithm ''"), std::string::npos);
  EXPECT_NE(wrong("gather ring").find("gather has no algorithm 'ring'"), std::string::npos);
  EXPECT_NE(wrong("gather direct sometimes").find("'sometimes' is no condition: there is 'in one process'"),
            std::string::npos);
  EXPECT_NE(wrong("gather direct up to 3 ranks, ,below 8 bytes").find("'' is no condition"),
            std::string::npos);
  for (const char* size : {"below 0 bytes", "below bytes", "below -1 KiB", "below 4", "below 4 GiB",
                           "below 99999999999999999999 MiB", "below 9999999999999 MiB"})
    EXPECT_NE(wrong(std::string("gather direct ") + size).find("sizes are written '481 bytes'"),
              std::string::npos);
  EXPECT_NE(wrong("gather direct up to no ranks").find("there has to be a number of ranks"),
            std::string::npos);
  EXPECT_NE(wrong("gather direct below 1 KiB, below 2 KiB").find("second condition"), std::string::npos);
}

TEST_F(Rules, LimitsOfAlgorithmsStay) {
  EXPECT_NE(wrong("broadcast shm bcast ring").find("needs 'below 481 bytes' or less"), std::string::npos);
  EXPECT_NE(wrong("broadcast shm bcast ring below 482 bytes").find("below 481"), std::string::npos);
  EXPECT_EQ(parse("broadcast shm bcast ring below 481 bytes").size(), 1u);
  EXPECT_NE(wrong("gather node shm below 8 KiB").find("needs 'below 4097 bytes'"), std::string::npos);
  EXPECT_EQ(parse("barrier node shm").size(), 1u);
  EXPECT_NE(wrong("allreduce ring").find("needs 'the operation commutes'"), std::string::npos);
  EXPECT_EQ(parse("allreduce ring the operation is predefined").size(), 1u);
  EXPECT_NE(wrong("scan shm all the operation commutes").find("is predefined"), std::string::npos);
  EXPECT_NE(wrong("gather shm all on one node").find("not for ranks on one node"), std::string::npos);
  EXPECT_NE(wrong("barrier two-stage in one process").find("not for ranks in one process"),
            std::string::npos);
}

TEST_F(Rules, OnesInUseStandInFrontOfTheShipped) {
  const Situation few{.ranks = 4, .bytes = 64, .team = true, .where = Where::kProcess};
  Situation many = few, elsewhere = few;
  many.ranks = 5;
  elsewhere.team = false;
  elsewhere.where = Where::kNode;
  const auto chosen = [](const Situation& is) { return select(Collective::kAllreduce, is); };
  EXPECT_EQ(chosen(few), Algorithm::kShmSmall);
  use_rules(parse("allreduce shm all in one process, up to 4 ranks, the operation is predefined"));
  EXPECT_EQ(chosen(few), Algorithm::kShmAll);
  EXPECT_EQ(chosen(many), Algorithm::kShmSmall);
  EXPECT_EQ(chosen(elsewhere), Algorithm::kReduceBroadcast);
  Situation own = few;
  own.operation = Operations::kAny;
  EXPECT_EQ(chosen(own), Algorithm::kShmSmall);
  own.team = false;
  EXPECT_EQ(chosen(own), Algorithm::kReduceBroadcast);
  EXPECT_EQ(select(Collective::kAllreduce, few, Algorithm::kShmLeader), Algorithm::kShmLeader);
  use_rules({});
  EXPECT_EQ(chosen(few), Algorithm::kShmSmall);
}

TEST_F(Rules, HaveBoundsOnBothSides) {
  use_rules(parse(
      "allreduce recursive doubling on one node, from 3 ranks, up to 5 ranks, from 64 bytes, below 1 KiB"));
  for (int ranks = 2; ranks <= 6; ++ranks) {
    for (const Count bytes : {63, 64, 1023, 1024}) {
      const bool inside = ranks >= 3 && ranks <= 5 && bytes >= 64 && bytes < 1024;
      const Situation is{.ranks = ranks, .bytes = bytes, .node = true, .where = Where::kNode};
      EXPECT_EQ(select(Collective::kAllreduce, is) == Algorithm::kRecursiveDoubling, inside)
          << ranks << " " << bytes;
    }
  }
}

TEST_F(Rules, ForEachPlaceAreTheShippedThatCanBeThere) {
  for (int i = 0; i <= static_cast<int>(Collective::kScan); ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const Count bytes : {0, 480, 481, 4096, 4097, 1 << 20}) {
      Situation team{.ranks = 7, .bytes = bytes, .team = true},
          node{.ranks = 7, .bytes = bytes, .node = true};
      const Algorithm in_team = select(collective, team), in_node = select(collective, node);
      team.where = Where::kProcess;
      node.where = Where::kNode;
      EXPECT_EQ(select(collective, team), in_team);
      EXPECT_EQ(select(collective, node), in_node);
    }
  }
}

TEST_F(Rules, EveryCollectiveStillEndsWithARuleThatFitsAlways) {
  const std::vector<Rule> all = in_front_of_shipped(parse("alltoall two-stage\nscan chain;barrier direct"));
  ASSERT_EQ(all.size(), shipped_rules().size() + 3);
  EXPECT_EQ(all.front().algorithm, Algorithm::kDirect);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i].collective == all[i + 1].collective) continue;
    EXPECT_TRUE(all[i].below_bytes == 0 && all[i].up_to_ranks == 0 && all[i].operations == Operations::kAny &&
                !is_for_teams(all[i].algorithm));
  }
}

}  // namespace
}  // namespace clump::coll
