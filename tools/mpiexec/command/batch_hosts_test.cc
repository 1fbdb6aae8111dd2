#include "command/batch_hosts.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace clump::mpiexec {
namespace {

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
  // salloc tells of the components only.
  ::unsetenv("SLURM_JOB_NODELIST");
  ::setenv("SLURM_HET_SIZE", "2", 1);
  ::setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "a", 1);
  ::setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "b[1-2]", 1);
  ::setenv("SLURM_TASKS_PER_NODE_HET_GROUP_0", "2", 1);
  ::setenv("SLURM_TASKS_PER_NODE_HET_GROUP_1", "3,1", 1);
  ASSERT_NE(own_batch_system(), nullptr);
  std::string all;
  for (const Host& host : batch_hosts(*own_batch_system()))
    all += fmt::format("{}:{} ", host.name, host.slots);
  EXPECT_EQ(all, "a:2 b1:3 b2:1 ");
  for (const char* const name : {"SLURM_JOB_ID", "SLURM_TASKS_PER_NODE", "SLURM_HET_SIZE"}) ::unsetenv(name);
}

}  // namespace
}  // namespace clump::mpiexec
