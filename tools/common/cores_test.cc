#include "common/cores.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "common/control_groups.h"

namespace clump::tools {
namespace {

std::vector<std::int32_t> parsed(const std::string& text) {
  std::vector<std::int32_t> cores;
  return read_list(text, cores) ? cores : std::vector<std::int32_t>{-1};
}

TEST(Cores, ListsAreRead) {
  EXPECT_EQ(parsed("0"), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(parsed("7,0-2,2"), (std::vector<std::int32_t>{7, 0, 1, 2, 2}));
  for (const char* bad : {"", ",", "1,", "a", "1-", "-1", "3-1", "1 2", "65536", "99999999999999"})
    EXPECT_EQ(parsed(bad), (std::vector<std::int32_t>{-1})) << bad;
}

TEST(Cores, ListsAreWritten) {
  EXPECT_EQ(as_list({}), "");
  EXPECT_EQ(as_list({3}), "3");
  EXPECT_EQ(as_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

/// Directories that look like the kernel's.
class Folders : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }

  std::string group(const std::string& name, const std::string& file, const std::string& text) {
    write(name + "/" + file, text);
    return root_ / name;
  }

  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("clump_cores_test." + std::to_string(::getpid()));
};

TEST_F(Folders, TheTightestCounts) {
  const std::string none = group("none", "cpu.max", "max 100000");
  const std::string half_more = group("half_more", "cpu.max", "150000 100000");
  const std::string four = group("four", "cpu.cfs_quota_us", "400000");
  group("four", "cpu.cfs_period_us", "100000");
  const std::string unlimited = group("unlimited", "cpu.cfs_quota_us", "-1");
  group("unlimited", "cpu.cfs_period_us", "100000");

  EXPECT_FALSE(tightest_quota({none, unlimited, root_ / "missing"}));
  EXPECT_DOUBLE_EQ(tightest_quota({none, four})->cores, 4);
  const auto tightest = tightest_quota({four, half_more, unlimited});
  EXPECT_DOUBLE_EQ(tightest->cores, 1.5);
  EXPECT_EQ(tightest->group, half_more);
}

/// Two packages, each a node with two last-level caches of two cores; processor n + 8 is the sibling of n.
constexpr const char* kSmtMachine = "pack:2 [numa] l3:2 core:2 pu:2(indexes=2*8:8*1)";

TEST(Machine, NeighboursStandTogether) {
  std::vector<std::int32_t> numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<Processor> all = describe(numbers, kSmtMachine);
  std::vector<std::int32_t> order;
  for (const Processor& one : all) order.push_back(one.number);
  EXPECT_EQ(order, (std::vector<std::int32_t>{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}));
  EXPECT_EQ(all[15].core, 7);
  EXPECT_EQ(all[15].cache, 6);
  EXPECT_EQ(all[15].package, 4);
  EXPECT_EQ(all[15].node, 1);
  EXPECT_EQ(all[0].node, 0);
  EXPECT_EQ(all[0].cache_level, 3);
  // Without core 0's first thread, its second one stands for the core.
  EXPECT_EQ(describe({8, 9}, kSmtMachine)[0].core, 0);
}

TEST(Machine, WhatIsNotKnownStandsAlone) {
  const std::vector<Processor> all = describe({60003, 60001}, kSmtMachine);
  EXPECT_EQ(all[0].number, 60001);
  EXPECT_EQ(all[0].core, 60001);
  EXPECT_EQ(all[1].cache, 60003);
  EXPECT_EQ(all[1].package, 0);
}

TEST(Cores, ClaimsHold) {
  const std::vector<Processor> cores{{60000}, {60001}, {60002}};  // nobody has so many
  const auto numbers = [](const std::vector<Processor>& chosen) {
    std::vector<std::int32_t> all;
    for (const Processor& one : chosen) all.push_back(one.number);
    return all;
  };
  EXPECT_EQ(numbers(claim(cores, 1)), (std::vector<std::int32_t>{60000}));
  EXPECT_EQ(numbers(claim(cores, 1)), (std::vector<std::int32_t>{60001}));
  EXPECT_EQ(numbers(claim(cores, 2)), (std::vector<std::int32_t>{60002, 60000}));
  // Each core has one job, and the first one two: the next jobs go to the others.
  EXPECT_EQ(numbers(claim(cores, 1)), (std::vector<std::int32_t>{60001}));
  EXPECT_EQ(numbers(claim(cores, 1)), (std::vector<std::int32_t>{60002}));
  EXPECT_EQ(numbers(claim(cores, 3)), (std::vector<std::int32_t>{60000, 60001, 60002}));
  EXPECT_EQ(numbers(claim(cores, 4)), (std::vector<std::int32_t>{60000, 60001, 60002}));
}

}  // namespace
}  // namespace clump::tools
