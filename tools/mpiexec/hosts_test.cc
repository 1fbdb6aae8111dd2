#include "hosts.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <numeric>

namespace clump::mpiexec {
namespace {

std::vector<Host> hosts_of(const std::string& list) {
  std::vector<Host> hosts;
  EXPECT_TRUE(parse_hosts("--host", list, hosts).ok()) << list;
  return hosts;
}

std::vector<int> divided(const std::string& list, int per_host, int ranks) {
  std::vector<int> counts;
  EXPECT_TRUE(divide(hosts_of(list), per_host, ranks, counts).ok());
  return counts;
}

TEST(Hosts, AreNamedWithOrWithoutSlots) {
  const std::vector<Host> hosts = hosts_of("a:4,b,a:2,c,c");
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].name, "a");
  EXPECT_EQ(hosts[0].slots, 6);
  EXPECT_EQ(hosts[1].slots, 0);
  EXPECT_EQ(hosts[2].slots, 2) << "named twice";
}

TEST(Hosts, BadOnesAreRefused) {
  std::vector<Host> hosts;
  for (const char* const bad : {"", "a:", "a:0", "a:-1", "a:x", "a:1x", ":2", "-a", "a:99999999999"})
    EXPECT_FALSE(parse_hosts("--host", bad, hosts).ok()) << bad;
}

TEST(Hosts, ComeFromAFile) {
  const std::string path = testing::TempDir() + "clump_hosts_test";
  std::ofstream(path) << "# three\n a slots=2 max_slots=4\n\nb:3 # colon\nc\n";
  std::vector<Host> hosts;
  ASSERT_TRUE(read_hostfile("-f", path, hosts).ok());
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].slots, 2);
  EXPECT_EQ(hosts[1].slots, 3);
  EXPECT_EQ(hosts[2].name, "c");
  std::ofstream(path) << "a slots\n";
  EXPECT_FALSE(read_hostfile("-f", path, hosts).ok());
  std::remove(path.c_str());
  EXPECT_FALSE(read_hostfile("-f", path, hosts).ok());
}

TEST(Hosts, GetRanksInBlocks) {
  using Counts = std::vector<int>;
  EXPECT_EQ(divided("a,b", 0, 5), (Counts{2, 3}));
  EXPECT_EQ(divided("a:1,b:2,c:4", 0, 7), (Counts{1, 2, 4}));
  EXPECT_EQ(divided("a:4,b:4", 0, 5), (Counts{4, 1})) << "slots are filled in turn";
  EXPECT_EQ(divided("a:1,b:3", 0, 8), (Counts{2, 6})) << "more ranks than slots, in proportion";
  EXPECT_EQ(divided("a,b,c", 2, 5), (Counts{2, 2, 1}));
  std::vector<int> counts;
  EXPECT_FALSE(divide(hosts_of("a,b"), 2, 5, counts).ok());
}

TEST(Hosts, AllRanksAreSomewhere) {
  for (int ranks = 1; ranks < 60; ++ranks) {
    for (const char* const list : {"a", "a,b,c", "a:2,b:1", "a:7,b,c:3,d:11"}) {
      const std::vector<int> counts = divided(list, 0, ranks);
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), ranks) << list;
    }
  }
}

}  // namespace
}  // namespace clump::mpiexec
