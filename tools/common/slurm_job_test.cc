#include "common/slurm_job.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace clump::tools {
namespace {

using ListNames = std::vector<std::string>;
using ListNumbers = std::vector<int>;

TEST(SlurmJob, ListsOfNames) {
  EXPECT_EQ(names_of_list("a"), (ListNames{"a"}));
  EXPECT_EQ(names_of_list("a,b-1,c"), (ListNames{"a", "b-1", "c"}));
  EXPECT_EQ(names_of_list("h[08-10,3],x"), (ListNames{"h08", "h09", "h10", "h3", "x"}));
  EXPECT_EQ(names_of_list("r[1-2]n[1,7].site"),
            (ListNames{"r1n1.site", "r1n7.site", "r2n1.site", "r2n7.site"}));
  EXPECT_EQ(names_of_list(""), ListNames{});
  EXPECT_EQ(names_of_list("a[3-1],b"), (ListNames{"b"}));
  EXPECT_EQ(names_of_list("a[1"), (ListNames{"a1"}));
}

TEST(SlurmJob, ListsOfNumbers) {
  EXPECT_EQ(numbers_of_list("4"), (ListNumbers{4}));
  EXPECT_EQ(numbers_of_list("4(x2),3"), (ListNumbers{4, 4, 3}));
  for (const char* const bad : {"x", "4(x", "4(x2", "-1", "4(xy)"})
    EXPECT_EQ(numbers_of_list(bad), ListNumbers{}) << bad;
}

TEST(SlurmJob, InAStepOnFewerHostsSlotsAreThoseOfTheJob) {
  ::setenv("SLURM_JOB_NODELIST", "a[1-3]", 1);
  ::setenv("SLURM_TASKS_PER_NODE", "1(x2)", 1);
  ::setenv("SLURM_JOB_CPUS_PER_NODE", "8,5,1", 1);
  ASSERT_EQ(slurm_components().size(), 1u);
  EXPECT_EQ(slurm_components()[0].slots, (ListNumbers{8, 5, 1}));
  ::setenv("SLURM_CPUS_PER_TASK", "2", 1);
  EXPECT_EQ(slurm_components()[0].slots, (ListNumbers{4, 2, 1}));
  ::setenv("SLURM_HET_SIZE", "2", 1);  // without the variables of the two
  ASSERT_EQ(slurm_components().size(), 1u);
  EXPECT_EQ(slurm_components()[0].names, (ListNames{"a1", "a2", "a3"}));
  ::unsetenv("SLURM_HET_SIZE");
  ::setenv("SLURM_JOB_CPUS_PER_NODE", "8", 1);
  EXPECT_EQ(slurm_components()[0].slots, ListNumbers{});
  for (const char* const name :
       {"SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_PER_TASK"})
    ::unsetenv(name);
  EXPECT_TRUE(slurm_components().empty());
}

}  // namespace
}  // namespace clump::tools
