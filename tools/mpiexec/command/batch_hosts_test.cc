#include "command/batch_hosts.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace clump::mpiexec
