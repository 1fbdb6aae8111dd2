#include "command/batch_hosts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace clump::mpiexec {
namespace {

using ListNames = std::vector<std::string>;
using ListNumbers = std::vector<int>;

TEST(BatchHosts, NamesOfSlurm) {
  EXPECT_EQ(names_of_list("a"), (ListNames{"a"}));
  EXPECT_EQ(names_of_list("a,b-1,c"), (ListNames{"a", "b-1", "c"}));
  EXPECT_EQ(names_of_list("h[08-10,3],x"), (ListNames{"h08", "h09", "h10", "h3", "x"}));
  EXPECT_EQ(names_of_list("r[1-2]n[1,7].site"),
            (ListNames{"r1n1.site", "r1n7.site", "r2n1.site", "r2n7.site"}));
  EXPECT_EQ(names_of_list(""), ListNames{});
  EXPECT_EQ(names_of_list("a[3-1],b"), (ListNames{"b"}));
  EXPECT_EQ(names_of_list("a[1"), (ListNames{"a1"}));
}

TEST(BatchHosts, NumbersOfSlurm) {
  EXPECT_EQ(numbers_of_list("4"), (ListNumbers{4}));
  EXPECT_EQ(numbers_of_list("4(x2),3"), (ListNumbers{4, 4, 3}));
  for (const char* const bad : {"x", "4(x", "4(x2", "-1", "4(xy)"})
    EXPECT_EQ(numbers_of_list(bad), ListNumbers{}) << bad;
}

TEST(BatchHosts, AreThoseOfTheOwnJob) {
  for (const char* const name : {"SLURM_JOB_ID", "PBS_JOBID", "JOB_ID", "LSB_JOBID"}) ::unsetenv(name);
  ::setenv("SLURM_JOB_NODELIST", "a[1-2]", 1);
  EXPECT_EQ(own_batch_system(), nullptr) << "a list alone is no job";
  ::setenv("SLURM_JOB_ID", "7", 1);
  ASSERT_NE(own_batch_system(), nullptr);
  EXPECT_EQ(own_batch_system()->name, "slurm");
  ::setenv("SLURM_TASKS_PER_NODE", "3(x2)", 1);
  const std::vector<Host> hosts = batch_hosts(*own_batch_system());
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[1].name, "a2");
  EXPECT_EQ(hosts[1].slots, 3);
  for (const char* const name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"})
    ::unsetenv(name);
}

}  // namespace
}  // namespace clump::mpiexec
