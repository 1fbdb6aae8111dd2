#include "tune.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "coll/select/rules.h"

namespace clump::tools {
namespace {

using coll::Algorithm;
using coll::Collective;
using coll::Where;

/// Every algorithm takes a second but those that `seconds` knows better.
template <typename Seconds>
Measured measured(const Setting& setting, Seconds seconds) {
  Measured made{setting, {}};
  for (const Cell& cell : plan_cells(setting, 1000))
    for (const Algorithm algorithm : cell.algorithms) {
      const double median = seconds(cell.collective, cell.bytes, algorithm);
      made.samples.push_back({cell.collective, cell.bytes, algorithm, 0.99 * median, median, 1.01 * median});
    }
  return made;
}

std::vector<std::string> lines(const std::vector<Measured>& all) {
  std::vector<std::string> made;
  for (const coll::Rule& rule : rules_of(derive_changes(all))) made.push_back(coll::line_text(rule));
  return made;
}

const Cell* find(const std::vector<Cell>& cells, Collective collective, Count bytes) {
  const auto found = std::ranges::find_if(
      cells, [=](const Cell& cell) { return cell.collective == collective && cell.bytes == bytes; });
  return found == cells.end() ? nullptr : &*found;
}

TEST(TunePlan, HasTheAlgorithmsThatSuit) {
  const std::vector<Cell> team = plan_cells({8, Where::kProcess}, 1000);
  const Cell* const small = find(team, Collective::kAllreduce, 32);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->algorithms,
            (std::vector{Algorithm::kRecursiveDoubling, Algorithm::kReduceBroadcast, Algorithm::kShmSmall,
                         Algorithm::kShmLeader, Algorithm::kShmAll}));
  const Cell* const large = find(team, Collective::kAllreduce, 2 << 20);
  ASSERT_NE(large, nullptr);
  EXPECT_TRUE(std::ranges::count(large->algorithms, Algorithm::kRing));
  EXPECT_FALSE(std::ranges::count(large->algorithms, Algorithm::kShmSmall));
  // All blocks have to be in a rank's slot: 512 bytes for each of 8.
  const std::vector<Cell> node = plan_cells({8, Where::kNode}, 1000);
  EXPECT_NE(find(node, Collective::kAlltoall, 512), nullptr);
  EXPECT_EQ(find(node, Collective::kAlltoall, 2 << 10), nullptr);  // one algorithm is no choice
  EXPECT_TRUE(std::ranges::is_sorted(node, {}, &Cell::bytes));
  EXPECT_LT(plan_cells({8, Where::kNode}, 0.1).size(), node.size());
}

TEST(TuneDerive, TheShippedRulesStayWhereNothingIsCheaper) {
  const auto alike = [](Collective, Count, Algorithm) { return 1.0; };
  EXPECT_TRUE(lines({measured({2, Where::kProcess}, alike), measured({8, Where::kNode}, alike)}).empty());
  // By less than the noise.
  const auto nearly = [](Collective, Count, Algorithm algorithm) {
    return algorithm == Algorithm::kDirect ? 0.95 : 1.0;
  };
  EXPECT_TRUE(lines({measured({8, Where::kNode}, nearly)}).empty());
}

TEST(TuneDerive, RoundsThatDifferSayNothing) {
  Measured all = measured({8, Where::kProcess}, [](Collective collective, Count, Algorithm algorithm) {
    return collective == Collective::kBarrier && algorithm == Algorithm::kDirect ? 0.5 : 1.0;
  });
  EXPECT_EQ(lines({all}).size(), 1u);
  for (Sample& sample : all.samples) sample.high = 2;
  EXPECT_TRUE(lines({all}).empty());
}

TEST(TuneDerive, SizesThatFollowOneAnotherAreOneRule) {
  const auto ring = [](Collective collective, Count bytes, Algorithm algorithm) {
    const bool is_cheap = collective == Collective::kAllreduce && algorithm == Algorithm::kRing &&
                          bytes >= 2 << 10 && bytes <= 32 << 10;
    return is_cheap ? 0.5 : 1.0;
  };
  EXPECT_EQ(lines({measured({8, Where::kProcess}, ring)}),
            std::vector<std::string>{
                "allreduce       ring                    in one process, from 4 ranks, up to 16 "
                "ranks, from 1 KiB, below 64 KiB, the operation is predefined"});
}

TEST(TuneDerive, NumbersOfRanksBetweenAreLikeTheNearer) {
  const auto direct = [](Collective collective, Count, Algorithm algorithm) {
    return collective == Collective::kBarrier && algorithm == Algorithm::kDirect ? 0.5 : 1.0;
  };
  const auto alike = [](Collective, Count, Algorithm) { return 1.0; };
  const Measured two = measured({2, Where::kNode}, direct), eight = measured({8, Where::kNode}, direct);
  const std::string line = "barrier         direct                  on one node, ";
  EXPECT_EQ(lines({two, eight}), std::vector{line + "up to 16 ranks"});
  EXPECT_EQ(lines({two, measured({8, Where::kNode}, alike)}), std::vector{line + "up to 4 ranks"});
  EXPECT_EQ(lines({measured({2, Where::kNode}, alike), eight}),
            std::vector{line + "from 5 ranks, up to 16 ranks"});
}

TEST(TuneDerive, WhatItWritesIsReadAndIsUsed) {
  // Whatever is not shipped is cheap: many rules, within the limits of their algorithms.
  std::vector<Measured> all;
  for (const Where where : {Where::kProcess, Where::kNode})
    for (const int ranks : {2, 3, 40})
      all.push_back(measured({ranks, where}, [&](Collective collective, Count bytes, Algorithm algorithm) {
        const Setting setting{ranks, where};
        return algorithm == coll::select(collective, situation_of(setting, collective, bytes))
                   ? 10.0
                   : 1.0 + 0.3 * static_cast<int>(algorithm);
      }));
  const std::vector<Change> changes = derive_changes(all);
  const std::vector<coll::Rule> rules = rules_of(changes);
  std::string text;
  for (const coll::Rule& rule : rules) text += coll::line_text(rule) + "\n";
  coll::RuleText parsed;
  const base::Status status = coll::parse_rules("file", text, parsed);
  ASSERT_TRUE(status.ok()) << base::message_of(status.code());
  EXPECT_EQ(parsed.rules, rules);
  coll::use_rules(rules);
  for (const Change& change : changes) {
    const Setting setting{change.ranks, change.rule.where};
    EXPECT_EQ(
        coll::select(change.rule.collective, situation_of(setting, change.rule.collective, change.bytes)),
        change.rule.algorithm);
  }
  coll::use_rules({});
  EXPECT_GT(rules.size(), 20u);
}

}  // namespace
}  // namespace clump::tools
