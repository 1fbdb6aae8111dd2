#include "host/pmix_job.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace clump::host {
namespace {

pmi::Job described(const std::vector<std::string>& hosts, int own, unsigned cores = 0) {
  pmi::Job job;
  job.apps.emplace_back();
  job.processes.push_back({0, 1, true});  // what there is before PMIx is asked
  job.nodes.push_back({{}, 0, 1});
  describe_by_hosts(job, hosts, own, cores);
  return job;
}

TEST(PmixJob, HasAProcessForEachRank) {
  const pmi::Job job = described({"a", "a", "b"}, 2);
  EXPECT_EQ(job.ranks(), 3);
  EXPECT_EQ(job.processes, (std::vector<pmi::HostProcess>{{0, 1, true}, {1, 1, true}, {2, 1, true}}));
  EXPECT_EQ(job.nodes, (std::vector<pmi::Node>{{"a", 0, 2}, {"b", 2, 1}}));
  EXPECT_EQ(job.node, 1);
  EXPECT_EQ(job.process, 2);
  EXPECT_EQ(job.first_rank(job.here()), 2);
}

TEST(PmixJob, PutsRanksOfAHostSideBySide) {
  const std::vector<std::string> hosts{"b", "a", "b", "c", "a", "b"};
  for (int own = 0; own < 6; ++own) {
    const pmi::Job job = described(hosts, own);
    ASSERT_EQ(job.nodes, (std::vector<pmi::Node>{{"b", 0, 3}, {"a", 3, 2}, {"c", 5, 1}}))
        << "as they are met";
    EXPECT_EQ(job.this_node().name, hosts[static_cast<std::size_t>(own)]);
    EXPECT_EQ(job.first_rank(job.here()), own);
    EXPECT_TRUE(job.is_here(own));
    EXPECT_TRUE(job.is_on_this_node(job.process));
    for (int rank = 0; rank < 6; ++rank)
      EXPECT_EQ(job.nodes[static_cast<std::size_t>(job.node_of(rank))].name,
                hosts[static_cast<std::size_t>(rank)]);
  }
  EXPECT_EQ(described(hosts, 0).ranks_of(described(hosts, 0).nodes[0]), (std::vector<int>{0, 2, 5}));
}

TEST(PmixJob, SpinsIfEachRankOfTheHostHasACore) {
  EXPECT_TRUE(described({"a", "b", "a"}, 0, 2).spin);
  EXPECT_FALSE(described({"a", "b", "a"}, 0, 1).spin);
  EXPECT_TRUE(described({"a", "b", "a"}, 1, 1).spin);
  EXPECT_FALSE(described({"a"}, 0, 0).spin) << "nobody knows how many there are";
}

}  // namespace
}  // namespace clump::host
