#include "base/free_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace clump::base {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A folder that stands for the root of the file system.
class FreeMemory : public testing::Test {
 protected:
  void SetUp() override {
    write("/proc/meminfo", "MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    8192 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string root_ = testing::TempDir() + "clump_free_memory_" + std::to_string(::getpid());
};

TEST_F(FreeMemory, IsWhatTheSystemSays) { EXPECT_EQ(free_memory(root_.c_str()), 8 * kMiB); }

TEST_F(FreeMemory, IsWhatTheTightestControlGroupHasLeft) {
  write("/proc/self/cgroup", "1:name=systemd:/other\n0::/above/own\n");
  write("/sys/fs/cgroup/above/own/memory.max", "max\n");
  EXPECT_EQ(free_memory(root_.c_str()), 8 * kMiB);
  write("/sys/fs/cgroup/above/own/memory.max", "7340032\n");
  EXPECT_EQ(free_memory(root_.c_str()), 7 * kMiB);
  write("/sys/fs/cgroup/above/own/memory.current", "1048576\n");
  EXPECT_EQ(free_memory(root_.c_str()), 6 * kMiB);
  write("/sys/fs/cgroup/above/memory.max", "2097152\n");
  write("/sys/fs/cgroup/above/memory.current", "1048576\n");
  EXPECT_EQ(free_memory(root_.c_str()), 1 * kMiB);
  write("/sys/fs/cgroup/above/memory.current", "3145728\n");
  EXPECT_EQ(free_memory(root_.c_str()), 0);
}

TEST_F(FreeMemory, OfAContainerIsThatOfItsRoot) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "1048576\n");
  EXPECT_EQ(free_memory(root_.c_str()), kMiB);
}

TEST_F(FreeMemory, IsNothingWhereTheSystemDoesNotSay) { EXPECT_EQ(free_memory("/nowhere"), 0); }

TEST_F(FreeMemory, ABudgetIsAQuarterAtATime) {
  MemoryBudget budget(root_.c_str());
  EXPECT_FALSE(budget.take(2 * kMiB + 1));
  EXPECT_TRUE(budget.take(kMiB));
  EXPECT_TRUE(budget.take(kMiB));
  write("/proc/meminfo", "MemAvailable:    4096 kB\n");  // another look, as all is used up
  EXPECT_FALSE(budget.take(2 * kMiB));
  EXPECT_TRUE(budget.take(kMiB));
  write("/proc/meminfo", "MemAvailable:    0 kB\n");
  EXPECT_FALSE(budget.take(1));
}

TEST(FreeMemoryHere, IsSome) { EXPECT_GT(free_memory(), kMiB); }

}  // namespace
}  // namespace clump::base
