#include "common/cores.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/control_groups.h"

namespace clump::tools {
namespace {

std::vector<std::int32_t> parsed(const std::string& text) {
  std::vector<std::int32_t> cores;
  return parse_cores(text, cores).ok() ? cores : std::vector<std::int32_t>{-1};
}

TEST(Cores, ListsAreRead) {
  EXPECT_EQ(parsed("0"), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(parsed("7,0-2,2"), (std::vector<std::int32_t>{7, 0, 1, 2, 2}));
  for (const char* bad : {"", ",", "1,", "a", "1-", "-1", "3-1", "1 2", "65536", "99999999999999"})
    EXPECT_EQ(parsed(bad), (std::vector<std::int32_t>{-1})) << bad;
}

/// Directories that look like control groups.
class Quotas : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string group(const std::string& name, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(root_ / name);
    std::ofstream(root_ / name / file) << text;
    return root_ / name;
  }

  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("clump_cores_test." + std::to_string(::getpid()));
};

TEST_F(Quotas, TheTightestCounts) {
  const std::string none = group("none", "cpu.max", "max 100000\n");
  const std::string half_more = group("half_more", "cpu.max", "150000 100000\n");
  const std::string four = group("four", "cpu.cfs_quota_us", "400000\n");
  group("four", "cpu.cfs_period_us", "100000\n");
  const std::string unlimited = group("unlimited", "cpu.cfs_quota_us", "-1\n");
  group("unlimited", "cpu.cfs_period_us", "100000\n");

  EXPECT_FALSE(tightest_quota({none, unlimited, root_ / "missing"}));
  EXPECT_DOUBLE_EQ(tightest_quota({none, four})->cores, 4);
  const auto tightest = tightest_quota({four, half_more, unlimited});
  EXPECT_DOUBLE_EQ(tightest->cores, 1.5);
  EXPECT_EQ(tightest->group, half_more);
}

}  // namespace
}  // namespace clump::tools
