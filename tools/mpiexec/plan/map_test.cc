#include "plan/map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/rank_list.h"

namespace clump::mpiexec {
namespace {

Plan plan_of(int ranks, std::vector<tools::Processor> workers) {
  Plan plan;
  plan.job.apps.push_back({.program = {}, .ranks = ranks});
  plan.job.processes = {{0, ranks, false}};
  plan.job.nodes = {{"here", 0, 1}};
  for (const tools::Processor& core : workers) plan.job.cores.push_back(core.number);
  plan.workers = std::move(workers);
  return plan;
}

/// Of 16 last-level caches with eight cores each, half of them in another package.
std::vector<tools::Processor> large() {
  std::vector<tools::Processor> cores;
  for (std::int32_t number = 0; number < 128; ++number)
    cores.push_back({number, number, number & ~7, number / 64, number & 64, 3});
  return cores;
}

TEST(Map, SmallJob) {
  EXPECT_EQ(map_text(plan_of(7, {{0, 0, 0, 0, 0, 3}, {1, 1, 0, 0, 0, 3}})),
            "map: 7 ranks as fibers, run by 2 workers (core: ranks)\n    0: 0-3  1: 4-6\n");
  EXPECT_EQ(map_text(plan_of(1, {{5, 5, 5, 0, 0, 2}})),
            "map: 1 rank as a fiber, run by 1 worker (core: ranks)\n    5: 0\n");
}

TEST(Map, ExploredJob) {
  Plan plan = plan_of(3, {});
  plan.job.seed = 17;
  plan.only_cores = {0, 1};
  EXPECT_EQ(
      map_text(plan),
      "map: 3 ranks as fibers of one worker in the order of seed 17, which the kernel runs on cores 0-1\n");
}

TEST(Map, LargeJobFitsOnAScreen) {
  const std::string text = map_text(plan_of(1000, large()));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 50);
  EXPECT_NE(text.find("package of core 0, NUMA node 0, L3 cache of core 8\n    8: 63-70"), std::string::npos);
  EXPECT_NE(text.find("package of core 64, NUMA node 1, L3 cache of core 120\n"), std::string::npos);
  EXPECT_NE(text.find("127: 993-999\n"), std::string::npos) << text;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = text.find('\n', from);
    EXPECT_LE(to - from, 100u);
    from = to + 1;
  }
}

TEST(Map, EachRankIsWhereTheJobHasIt) {
  for (int ranks = 1; ranks < 40; ++ranks) {
    const Plan plan = plan_of(ranks, {{0, 0, 0, 0, 0, 3}, {1, 1, 0, 0, 0, 3}, {2, 2, 0, 0, 0, 3}});
    const std::string text = map_text(plan);
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank > 0 && plan.job.worker_of(rank) == plan.job.worker_of(rank - 1)) continue;
      const std::string start = " " + std::to_string(plan.job.worker_of(rank)) + ": " + std::to_string(rank);
      EXPECT_NE(text.find(start), std::string::npos) << start << " in\n" << text;
    }
  }
}

TEST(Map, RanksThatWentToHostsInTurn) {
  Plan plan = plan_of(16, {{0, 0, 0, 0, 0, 3}, {1, 1, 0, 0, 0, 3}});
  plan.job.processes = {{0, 8, false}, {8, 8, false}};
  plan.job.nodes = {{"even", 0, 1}, {"odd", 1, 1}};
  plan.job.rank_mapping = pmi::RankMapping({0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15});
  plan.job.node = plan.job.process = 1;
  EXPECT_EQ(
      map_text(plan),
      "map of odd: 8 ranks as fibers, run by 2 workers (core: ranks)\n    0: 1,3,...,7    1: 9,11,...,15\n");
}

TEST(RankList, IsShort) {
  EXPECT_EQ(rank_list({}), "none");
  EXPECT_EQ(rank_list({7}), "7");
  EXPECT_EQ(rank_list({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(rank_list({0, 4, 8}), "0,4,8");
  EXPECT_EQ(rank_list({0, 4, 8, 12}), "0,4,...,12");
  EXPECT_EQ(rank_list({0, 1, 5, 7, 9, 11, 12, 13}), "0-1,5,7,...,11,12-13");
  EXPECT_EQ(rank_list({0, 3, 4, 9, 11, 20, 22, 30, 35, 36}), "0,3-4,9,11,20,22,30,35-36");
  EXPECT_EQ(rank_list({0, 3, 5, 9, 11, 20, 22, 30, 35}), "0,3,5,9,11,20,22,30,...");
}

TEST(Map, QuotaSaysWhy) {
  Plan plan = plan_of(4, {{0}, {1}});
  plan.quota = {1.5, "/sys/fs/cgroup/job"};
  const std::string text = map_text(plan);
  EXPECT_NE(text.find("/sys/fs/cgroup/job pays for 1.5 cores"), std::string::npos);
  EXPECT_NE(text.find("worker 0: 0-1 worker 1: 2-3\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace clump::mpiexec
