#include "cluster/launchers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace clump::mpiexec {
namespace {

HostList hosts(std::uint32_t number, int width) {
  HostList all{{.name = {}, .program = {"", "ssh : rsh"}}, width, {}};
  for (std::uint32_t host = 0; host < number; ++host) all.all.push_back({host, "h" + std::to_string(host)});
  return all;
}

TEST(Branches, AreOfOneHostEachWhereThereAreFew) {
  const auto branches = branches_of(hosts(3, 32));
  ASSERT_EQ(branches.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(branches[i].all.size(), 1U);
    EXPECT_EQ(branches[i].all.front().name, "h" + std::to_string(i));
  }
  EXPECT_TRUE(branches_of(hosts(0, 32)).empty());
}

TEST(Branches, HaveAllHostsOnceAndNearlyEquallyMany) {
  for (const int width : {1, 2, 3, 32}) {
    for (const std::uint32_t number : {1U, 5U, 33U, 100U, 1000U}) {
      std::uint32_t next = 0;
      std::size_t least = number, most = 0;
      for (const HostList& branch : branches_of(hosts(number, width))) {
        EXPECT_EQ(branch.launcher.program.value, "ssh : rsh");
        EXPECT_EQ(branch.width, width);
        for (const HostName& host : branch.all) EXPECT_EQ(host.number, next++);
        least = std::min(least, branch.all.size());
        most = std::max(most, branch.all.size());
      }
      EXPECT_EQ(next, number);
      EXPECT_LE(most, least + 1);
      EXPECT_GE(least, 1U);
    }
  }
}

TEST(Branches, TravelAsAMessage) {
  HostList there;
  ASSERT_TRUE(decode(encode(below_first(hosts(6, 2))), there));
  EXPECT_EQ(there.starter, "h0");
  EXPECT_EQ(there.launcher.program.value, "ssh : rsh");
  EXPECT_EQ(there.width, 2);
  ASSERT_EQ(there.all.size(), 5U);
  EXPECT_EQ(there.all.back().name, "h5");
  EXPECT_EQ(there.all.back().number, 5U);
  EXPECT_FALSE(decode(encode(hosts(5, 0)), there)) << "a process would start none";
  EXPECT_FALSE(decode("x", there));
}

}  // namespace
}  // namespace clump::mpiexec
