#include "command/hosts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/test_failure.h"

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

/// The host of each rank where parts of a command line have lists of their own.
std::vector<int> divided(const std::vector<std::pair<std::string, int>>& parts, int per_host = 0,
                         MapBy by = MapBy::kSlot) {
  std::vector<Host> hosts;
  std::vector<RanksOnHosts> ranks;
  for (const auto& [list, number] : parts) {
    const std::size_t before = places_of(hosts);
    EXPECT_TRUE(parse_hosts("--host", list, hosts).ok()) << list;
    ranks.push_back({number, {before, places_of(hosts)}});
  }
  std::vector<int> host_of;
  EXPECT_TRUE(divide(hosts, per_host, ranks, by, host_of).ok());
  return host_of;
}

TEST(Hosts, AreThoseOfAPart) {
  using Numbers = std::vector<int>;
  EXPECT_EQ(divided({{"a:4", 1}, {"b:4,c", 2}}), (Numbers{0, 1, 1}));
  EXPECT_EQ(divided({{"a,b", 2}, {"c,b", 2}}), (Numbers{0, 1, 2, 1})) << "each in its order";
  EXPECT_EQ(divided({{"a,b", 2}, {"b,a", 4}}), (Numbers{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(divided({{"a:1,b:1,a:2", 4}, {"a:2,b", 3}}), (Numbers{0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(divided({{"a,b", 3}, {"c", 1}}, 2, MapBy::kNode), (Numbers{0, 1, 0, 2}));
}

TEST(Hosts, AreNamedWithOrWithoutSlots) {
  const std::vector<Host> hosts = hosts_of("a:4, b,a:2 ,c,\tc");
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].name, "a");
  EXPECT_EQ(hosts[0].slots, 6);
  EXPECT_EQ(hosts[1].slots, 0);
  EXPECT_EQ(hosts[2].slots, 2) << "named twice";
}

TEST(Hosts, BadOnesAreRefused) {
  std::vector<Host> hosts;
  for (const char* const bad : {"", "a:", "a:0", "a:-1", "a:x", "a:1x", ":2", "-a", "a b", "a:99999999999",
                                "a[1-2]", "a/b", "a=2", "a;b", "$(a)", "^a", "+n0", "'a'", "a\n"})
    EXPECT_FALSE(parse_hosts("--host", bad, hosts).ok()) << bad;
  EXPECT_EQ(base::failure(parse_hosts("--host", "a[1-2]:2", hosts)),
            (base::Failure{MPI_ERR_ARG,
                           "--host: 'a[1-2]:2' is no host; write NAME or NAME:N, with commas between hosts "
                           "(h[1-2] is not expanded: write h1,h2)"}));
  EXPECT_TRUE(hosts.empty());
  EXPECT_EQ(hosts_of("user@node-1.b_c,\xc3\xa4.example").size(), 2u);
}

TEST(Hosts, MayBeIPv6Addresses) {
  const std::vector<Host> hosts = hosts_of("fd00::1,[fd00::2]:3,[fd00::2],::ffff:10.0.0.1");
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].name, "fd00::1");
  EXPECT_EQ(hosts[1].name, "fd00::2");
  EXPECT_EQ(hosts[1].slots, 4);
  EXPECT_EQ(hosts[2].name, "::ffff:10.0.0.1");
  std::vector<Host> none;
  for (const char* const bad : {"[fd00::1", "[fd00::1]4", "[fd00::1]:", "[a]:2", "[]", "["})
    EXPECT_FALSE(parse_hosts("--host", bad, none).ok()) << bad;
}

/// What a file with this text names; `without_meaning` has a space behind each key.
struct Read {
  bool ok = false;
  std::vector<Host> hosts;
  std::vector<std::string> without_meaning;

  explicit Read(const std::string& text) {
    const std::string path = testing::TempDir() + "clump_hosts_test." + std::to_string(::getpid());
    std::ofstream(path) << text;
    ok = read_hostfile("-f", path, hosts, without_meaning).ok();
    std::remove(path.c_str());
  }
};

TEST(Hosts, FilesOfOtherKindsAreRefused) {
  using std::string_literals::operator""s;
  for (const std::string& bad : {"a\0b\n"s,
                                 "\xff\xfe"
                                 "a\0\n\0"s,
                                 "a,b\n"s, "rank 0=a slot=0\n"s})
    EXPECT_FALSE(Read(bad).ok) << bad;
}

TEST(Hosts, ComeFromAFile) {
  const Read read("# three\n a slots=2 max_slots=4\n\nb:3 # colon\nc\n");
  ASSERT_TRUE(read.ok);
  ASSERT_EQ(read.hosts.size(), 3u);
  EXPECT_EQ(read.hosts[0].slots, 2);
  EXPECT_EQ(read.hosts[1].slots, 3);
  EXPECT_EQ(read.hosts[2].name, "c");
  EXPECT_EQ(read.hosts[2].slots, 0);
  EXPECT_FALSE(Read("a slots\n").ok);
  EXPECT_FALSE(Read("").ok);
  std::vector<std::string> keys;
  std::vector<Host> hosts;
  EXPECT_FALSE(read_hostfile("-f", testing::TempDir() + "clump_no_such_file", hosts, keys).ok());
}

TEST(Hosts, ComeFromFilesOfOtherLaunchers) {
  const Read read(
      "\xef\xbb\xbf"
      "a slots = 2\r\nb cpu=3 max-slots= 0\r\n\t\r\n c\tcount =1\n[fd00::1]:2\nd slots=0\ne:0\n");
  ASSERT_TRUE(read.ok);
  ASSERT_EQ(read.hosts.size(), 4u) << "d and e have no slots";
  EXPECT_EQ(read.hosts[0].name, "a");
  EXPECT_EQ(read.hosts[0].slots, 2);
  EXPECT_EQ(read.hosts[1].slots, 3);
  EXPECT_EQ(read.hosts[2].name, "c");
  EXPECT_EQ(read.hosts[2].slots, 1);
  EXPECT_EQ(read.hosts[3].name, "fd00::1");
  EXPECT_EQ(read.hosts[3].slots, 2);
  EXPECT_TRUE(read.without_meaning.empty());
  EXPECT_FALSE(Read("a slots=0\nb:0\n").ok);
  EXPECT_FALSE(Read("a slots=x\n").ok);
  EXPECT_FALSE(Read("a slots=-1\n").ok);
}

TEST(Hosts, NamesKeysWithoutMeaningOnce) {
  const Read read("a slots=1 user=me port=22\nb user = you ifhn=b-ib slots=2\n");
  ASSERT_TRUE(read.ok);
  EXPECT_EQ(read.without_meaning, (std::vector<std::string>{"user", "port", "ifhn"}));
  EXPECT_EQ(read.hosts[1].slots, 2);
}

TEST(Hosts, GetRanksInBlocks) {
  using Hosts = std::vector<int>;
  EXPECT_EQ(divided("a,b", 0, 5), (Hosts{0, 0, 0, 1, 1})) << "the first ones get one more";
  EXPECT_EQ(divided("a,b,c", 0, 1), (Hosts{0}));
  EXPECT_EQ(divided("a,b,c", 0, 2), (Hosts{0, 1}));
  EXPECT_EQ(divided("a:1,b:2,c:4", 0, 7), (Hosts{0, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(divided("a:4,b:4", 0, 5), (Hosts{0, 0, 0, 0, 1})) << "slots are filled in turn";
  EXPECT_EQ(divided("a:1,b:3", 0, 8), (Hosts{0, 0, 1, 1, 1, 1, 1, 1})) << "more than slots, in proportion";
  EXPECT_EQ(divided("a,b,c", 2, 5), (Hosts{0, 0, 1, 1, 2}));
  std::vector<int> host_of;
  EXPECT_FALSE(divide(hosts_of("a,b"), 2, 5, MapBy::kSlot, host_of).ok());
}

TEST(Hosts, GetRanksEachTimeThatTheyAreNamed) {
  using Hosts = std::vector<int>;
  EXPECT_EQ(divided("a,b,a,b", 0, 4), (Hosts{0, 1, 0, 1}));
  EXPECT_EQ(divided("a,b,a,b", 0, 3), (Hosts{0, 1, 0}));
  EXPECT_EQ(divided("a,b,a,b", 0, 8), (Hosts{0, 0, 1, 1, 0, 0, 1, 1})) << "more than slots, in proportion";
  EXPECT_EQ(divided("a:2,b,a:1", 0, 4), (Hosts{0, 0, 1, 0}));
  EXPECT_EQ(divided("a,a,b", 0, 3), (Hosts{0, 0, 1}));
  EXPECT_EQ(divided("b,a,a,b", 0, 4, MapBy::kNode), (Hosts{0, 1, 1, 0}));
  EXPECT_EQ(divided("a,b,a", 2, 4), (Hosts{0, 0, 1, 1})) << "--ppn is of a host";
  const Read read("a slots=2\nb\na\n");
  std::vector<int> host_of;
  ASSERT_TRUE(read.ok && divide(read.hosts, 0, 4, MapBy::kSlot, host_of).ok());
  EXPECT_EQ(host_of, (Hosts{0, 0, 1, 0}));
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

TEST(Hosts, KeepTheirRanksWhenTheseAreRenumbered) {
  using Hosts = std::vector<int>;
  const auto renumbered = [](Hosts host_of, MapBy by) {
    renumber(host_of, by);
    return host_of;
  };
  EXPECT_EQ(renumbered(divided("a:2,b:3", 0, 5), MapBy::kNode), (Hosts{0, 1, 0, 1, 1}));
  EXPECT_EQ(renumbered(divided("a:4,b:4", 0, 3), MapBy::kNode), (Hosts{0, 0, 0}))
      << "where --map-by node has both";
  EXPECT_EQ(renumbered(divided("a:1,b:2,c:4", 0, 7, MapBy::kNode), MapBy::kSlot),
            (Hosts{0, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(renumbered({}, MapBy::kNode), Hosts());
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
