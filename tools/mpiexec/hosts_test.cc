#include "hosts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace clump::mpiexec {
namespace {

std::vector<Host> hosts_of(const std::string& list) {
  std::vector<Host> hosts;
  EXPECT_TRUE(parse_hosts("--host", list, hosts).ok()) << list;
  return hosts;
}

/// The host of each rank.
std::vector<int> divided(const std::string& list, int per_host, int ranks, MapBy by = MapBy::kSlot) {
  std::vector<int> host_of;
  EXPECT_TRUE(divide(hosts_of(list), per_host, ranks, by, host_of).ok());
  return host_of;
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
  using Hosts = std::vector<int>;
  EXPECT_EQ(divided("a,b", 0, 5), (Hosts{0, 0, 1, 1, 1}));
  EXPECT_EQ(divided("a:1,b:2,c:4", 0, 7), (Hosts{0, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(divided("a:4,b:4", 0, 5), (Hosts{0, 0, 0, 0, 1})) << "slots are filled in turn";
  EXPECT_EQ(divided("a:1,b:3", 0, 8), (Hosts{0, 0, 1, 1, 1, 1, 1, 1})) << "more than slots, in proportion";
  EXPECT_EQ(divided("a,b,c", 2, 5), (Hosts{0, 0, 1, 1, 2}));
  std::vector<int> host_of;
  EXPECT_FALSE(divide(hosts_of("a,b"), 2, 5, MapBy::kSlot, host_of).ok());
}

TEST(Hosts, GetRanksInTurn) {
  using Hosts = std::vector<int>;
  const auto in_turn = [](const char* list, int per_host, int ranks) {
    return divided(list, per_host, ranks, MapBy::kNode);
  };
  EXPECT_EQ(in_turn("a,b", 0, 5), (Hosts{0, 1, 0, 1, 0}));
  EXPECT_EQ(in_turn("a:4,b:4", 0, 5), (Hosts{0, 1, 0, 1, 0}));
  EXPECT_EQ(in_turn("a:1,b:2,c:4", 0, 7), (Hosts{0, 1, 2, 1, 2, 2, 2})) << "until a host is full";
  EXPECT_EQ(in_turn("a:1,b:3", 0, 8), (Hosts{0, 1, 0, 1, 1, 1, 1, 1})) << "more than slots, in proportion";
  EXPECT_EQ(in_turn("a,b,c", 2, 5), (Hosts{0, 1, 2, 0, 1}));
  EXPECT_EQ(in_turn("a,b,c", 0, 2), (Hosts{0, 1})) << "none on the last";
  std::vector<int> host_of;
  EXPECT_FALSE(divide(hosts_of("a,b"), 2, 5, MapBy::kNode, host_of).ok());
}

TEST(Hosts, AllRanksAreSomewhere) {
  for (int ranks = 1; ranks < 60; ++ranks) {
    for (const char* const list : {"a", "a,b,c", "a:2,b:1", "a:7,b,c:3,d:11"}) {
      for (const MapBy by : {MapBy::kSlot, MapBy::kNode})
        EXPECT_EQ(divided(list, 0, ranks, by).size(), static_cast<std::size_t>(ranks)) << list;
      const std::vector<int> in_blocks = divided(list, 0, ranks);
      EXPECT_TRUE(std::is_sorted(in_blocks.begin(), in_blocks.end())) << list;
    }
  }
}

}  // namespace
}  // namespace clump::mpiexec
