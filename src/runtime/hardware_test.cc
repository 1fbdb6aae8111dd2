#include "runtime/hardware.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace clump {
namespace {

/// Two hosts with a process each, of `each` ranks; the reader is on the host of this number, which has 4
/// workers if ranks are fibers.
pmi::Job two_hosts(int node, pmi::Scheduler scheduler, int each = 8) {
  pmi::Job job;
  job.apps.emplace_back().ranks = 2 * each;
  job.scheduler = scheduler;
  job.processes = {{0, each, false}, {each, each, false}};
  job.nodes = {{"a", 0, 1}, {"b", 1, 1}};
  job.process = job.node = node;
  if (scheduler == pmi::Scheduler::kFibers) {
    job.cores = {0, 1, 2, 3};
    job.places = {{0, 0, 0, 0, 3}, {0, 0, 0, 1, 3}, {1, 1, 2, 2, 3}, {1, 1, 2, 3, 3}};
  }
  return job;
}

pmi::Job one_host(int ranks) {
  pmi::Job job = two_hosts(0, pmi::Scheduler::kFibers, ranks);
  job.apps.front().ranks = ranks;
  job.processes = {{0, ranks, false}};
  job.nodes = {{"a", 0, 1}};
  return job;
}

std::vector<int> homes(const pmi::Job& job) {
  std::vector<int> all;
  for (int rank = 0; rank < job.ranks(); ++rank) all.push_back(home_of(job, rank));
  return all;
}

const core::World::Resource* find_resource(const std::vector<core::World::Resource>& all,
                                           const std::string& name) {
  for (const auto& one : all)
    if (one.name == name) return &one;
  return nullptr;
}

TEST(Homes, AreWorkersOfThisHost) {
  EXPECT_EQ(homes(two_hosts(0, pmi::Scheduler::kFibers)),
            (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, -2, -2, -2, -2, -2, -2, -2, -2}));
  const int first = 1 << 14;  // of the second host
  EXPECT_EQ(homes(two_hosts(1, pmi::Scheduler::kFibers)),
            (std::vector<int>{-1, -1, -1, -1, -1, -1, -1, -1, first, first, first + 1, first + 1, first + 2,
                              first + 2, first + 3, first + 3}));
}

TEST(Homes, OfKernelThreadsAreTheirOwnIfThereIsACoreForEach) {
  pmi::Job job = two_hosts(0, pmi::Scheduler::kThreads, 2);
  job.spin = true;
  EXPECT_EQ(homes(job), (std::vector<int>{0, 1, -2, -2}));
  job.spin = false;
  EXPECT_EQ(homes(job), (std::vector<int>{0, 0, -2, -2}));
  job.process = job.node = 1;
  EXPECT_EQ(homes(job), (std::vector<int>{-1, -1, 1 << 14, 1 << 14}));
}

TEST(Homes, OfNumbersThatNoRankHasAreElsewhere) {
  const pmi::Job several = two_hosts(0, pmi::Scheduler::kFibers), one = one_host(8);
  EXPECT_EQ(home_of(several, several.ranks()), kElsewhere) << "nobody joins a job of several processes";
  EXPECT_NE(home_of(one, one.ranks()), kElsewhere) << "this one may join";
  EXPECT_NE(home_of(one, one.first_of_others() - 1), kElsewhere);
  EXPECT_EQ(home_of(one, one.first_of_others()), kElsewhere);
  EXPECT_EQ(home_of(one, one.places_for_ranks() - 1), kElsewhere);
}

TEST(Resources, AreNamedFromTheMachineInwards) {
  std::vector<std::string> names;
  for (const auto& one : resources_of(one_host(8))) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"hwloc://Machine", "hwloc://Package", "hwloc://NUMANode",
                                             "hwloc://L3Cache", "hwloc://Core"}));
  pmi::Job job = one_host(8);
  for (pmi::Place& place : job.places) place.cache_level = 0;
  EXPECT_EQ(find_resource(resources_of(job), "hwloc://L3Cache"), nullptr);
  EXPECT_EQ(resources_of(job).size(), 4u);
  job.places.clear();
  EXPECT_EQ(resources_of(job).size(), 1u) << "the kernel chooses the cores";
}

TEST(Resources, AreThoseOfTheRanksWorker) {
  const pmi::Job job = one_host(8);
  const auto all = resources_of(job);
  const auto first = [&](const std::string& name) {
    const auto& instances = find_resource(all, name)->instances;
    EXPECT_EQ(instances.size(), static_cast<std::size_t>(job.places_for_ranks()));
    return std::vector<int>(instances.begin(), instances.begin() + 8);
  };
  EXPECT_EQ(first("hwloc://Machine"), std::vector<int>(8, 0));
  EXPECT_EQ(first("hwloc://Package"), (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(first("hwloc://L3Cache"), (std::vector<int>{0, 0, 0, 0, 2, 2, 2, 2}));
  EXPECT_EQ(first("hwloc://Core"), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(find_resource(all, "hwloc://Machine")->instances.back(), kElsewhere) << "a rank of another job";
  EXPECT_EQ(find_resource(all, "hwloc://Core")->instances.back(), -1);
}

TEST(Resources, OfAnotherHostAreNotKnown) {
  const auto all = resources_of(two_hosts(1, pmi::Scheduler::kFibers));
  const auto& machines = find_resource(all, "hwloc://Machine")->instances;
  const auto& cores = find_resource(all, "hwloc://Core")->instances;
  EXPECT_EQ(machines[7], 0);
  EXPECT_EQ(machines[8], 1);
  EXPECT_EQ(cores[7], -1);
  EXPECT_EQ(cores[8], 1 << 14) << "no core of another host has the number";
  EXPECT_EQ(cores[15], (1 << 14) + 3);
}

}  // namespace
}  // namespace clump
