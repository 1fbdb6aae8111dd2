#include "host/start_variables.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace clump::host {
namespace {

/// An environment as a process begins with it.
class Variables {
 public:
  Variables(std::initializer_list<const char*> entries) : entries_(entries.begin(), entries.end()) {
    for (std::string& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  char* const* all() const { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
};

TEST(StartVariables, HasValuesOfWholeNames) {
  const Variables variables{"AB=2", "A=1=x", "EMPTY=", "ALONE", "A=later"};
  EXPECT_STREQ(value_of(variables.all(), "A"), "1=x") << "the first one counts";
  EXPECT_STREQ(value_of(variables.all(), "AB"), "2");
  EXPECT_STREQ(value_of(variables.all(), "EMPTY"), "");
  EXPECT_EQ(value_of(variables.all(), "ALONE"), nullptr);
  EXPECT_EQ(value_of(variables.all(), "B"), nullptr);
  EXPECT_EQ(value_of(Variables{}.all(), "A"), nullptr);
}

TEST(StartVariables, HasNumbers) {
  const Variables variables{"FD=7", "NONE=", "NEGATIVE=-3", "DAMAGED=7x", "LIST=7,8"};
  EXPECT_EQ(number_in(variables.all(), "FD"), 7);
  EXPECT_EQ(number_in(variables.all(), "NEGATIVE"), -3);
  for (const char* const none : {"NONE", "DAMAGED", "LIST", "MISSING"})
    EXPECT_EQ(number_in(variables.all(), none), -1) << none;
}

TEST(StartVariables, HasListsOfNumbers) {
  EXPECT_EQ(numbers_of(nullptr), std::vector<int>());
  EXPECT_EQ(numbers_of(""), std::vector<int>());
  EXPECT_EQ(numbers_of("5"), std::vector<int>{5});
  EXPECT_EQ(numbers_of("5,-1,12"), (std::vector<int>{5, -1, 12}));
  for (const char* const damaged : {"5,", ",5", "5,x,6", "x", "5 6", "99999999999,6"})
    EXPECT_EQ(numbers_of(damaged), std::nullopt) << damaged;
}

TEST(StartVariables, HasListsOfLibraries) {
  using Libraries = std::vector<std::string_view>;
  EXPECT_EQ(libraries_of(nullptr), Libraries());
  EXPECT_EQ(libraries_of(" : "), Libraries());
  EXPECT_EQ(libraries_of("/a.so"), Libraries{"/a.so"});
  EXPECT_EQ(libraries_of(":/a.so: libb.so c.so:"), (Libraries{"/a.so", "libb.so", "c.so"}))
      << "as ld.so reads it";
}

/// "NAME by VARIABLE=VALUE"; empty: nobody knows of one.
std::string foreign(std::initializer_list<const char*> entries) {
  const Variables variables(entries);
  const auto found = find_foreign_launcher(variables.all());
  return found ? std::string(found->name) + " by " + std::string(found->variable) + "=" + found->value
               : std::string();
}

TEST(ForeignLauncher, IsSeenByTheSizeOfItsJob) {
  EXPECT_EQ(foreign({"PATH=/bin"}), "");
  EXPECT_EQ(foreign({"OMPI_COMM_WORLD_SIZE=4"}), "Open MPI's launcher by OMPI_COMM_WORLD_SIZE=4");
  EXPECT_EQ(foreign({"PMI_SIZE=2", "PMI_RANK=0"}),
            "a PMI launcher (mpiexec of MPICH or Intel MPI, srun --mpi=pmi2, flux) by PMI_SIZE=2");
  EXPECT_EQ(foreign({"SLURM_STEP_NUM_TASKS=8"}), "srun by SLURM_STEP_NUM_TASKS=8");
  EXPECT_EQ(foreign({"OMPI_COMM_WORLD_SIZE=4", "PMI_SIZE=4"}),
            "Open MPI's launcher by OMPI_COMM_WORLD_SIZE=4");
  EXPECT_EQ(foreign({"OMPI_COMM_WORLD_SIZE=1", "PMI_SIZE=1", "SLURM_STEP_NUM_TASKS=1"}), "")
      << "one process may be a job of its own";
  EXPECT_EQ(foreign({"SLURM_NTASKS=8"}), "") << "of the allocation: this process is not started by srun";
}

TEST(ForeignLauncher, IsSeenByItsPortWhereItTellsNoSize) {
  EXPECT_EQ(foreign({"PMI_PORT=host:1", "PMI_ID=0"}), "a PMI launcher (mpiexec of MPICH) by PMI_ID=0");
  EXPECT_EQ(foreign({"PMI_ID=0", "PMI_SIZE=1"}), "");
}

TEST(ForeignLauncher, IsNotClumpsOwn) {
  EXPECT_EQ(foreign({"CLUMP_IS_RANK=1/4", "PMI_RANK=1", "PMI_SIZE=4", "OMPI_COMM_WORLD_SIZE=4"}), "")
      << "a rank has started this process";
  EXPECT_NE(foreign({"CLUMP_IS_RANK=1/4", "PMI_RANK=1", "PMI_SIZE=8"}), "")
      << "another launcher has, behind the rank";
  EXPECT_NE(foreign({"CLUMP_IS_RANK=1/4", "PMI_RANK=0", "PMI_SIZE=4"}), "");
  EXPECT_NE(foreign({"CLUMP_IS_RANK=1/4", "PMI_RANK=1", "PMI_SIZE=4", "PMI_FD=5"}), "")
      << "Clump has no such way";
  EXPECT_EQ(foreign({"CLUMP_IS_RANK=1/4", "PMI_RANK=1", "PMI_SIZE=4", "SLURM_STEP_NUM_TASKS=2"}),
            "srun by SLURM_STEP_NUM_TASKS=2")
      << "Clump's mpiexec does not set this one";
}

}  // namespace
}  // namespace clump::host
