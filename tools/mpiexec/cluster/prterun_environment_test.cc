#include "cluster/prterun_environment.h"

#include <gtest/gtest.h>

namespace clump::mpiexec {
namespace {

using Strings = std::vector<std::string>;

TEST(PrterunEnvironment, HasNothingOfAnOuterJob) {
  const char* const own[] = {"PMIX_NAMESPACE=prterun-a@1",
                             "PMIX_SERVER_URI41=a;tcp4://127.0.0.1:1",
                             "PRTE_MCA_ess=env",
                             "PRTE_MCA_ess_base_vpid=1",
                             "PRTE_MCA_plm_ssh_agent=rsh",
                             "PMIX_MCA_ptl=tcp",
                             "PMIX_PREFIX=/opt",
                             "HOME=/root",
                             nullptr};
  EXPECT_EQ(prterun_environment(own),
            (Strings{"PRTE_MCA_plm_ssh_agent=rsh", "PMIX_MCA_ptl=tcp", "PMIX_PREFIX=/opt", "HOME=/root"}));
}

TEST(PrterunEnvironment, HasNoLongValuesButThoseThatItNeeds) {
  const std::string value(100'000, 'x'), big = "BIG=" + value, path = "PATH=" + value;
  const char* const own[] = {big.c_str(), path.c_str(), "SMALL=1", nullptr};
  EXPECT_EQ(prterun_environment(own), (Strings{path, "SMALL=1"}));
}

TEST(PrterunEnvironment, TellsSettingsOfTheUser) {
  EXPECT_EQ(prrte_settings({"PRTE_MCA_plm=slurm", "HOME=/root", "PRTE_MCA_oob_tcp_keepalive_time=1",
                            "PRTE_MCA_ras=slurm"}),
            "PRTE_MCA_plm=slurm, PRTE_MCA_ras=slurm");
  EXPECT_EQ(prrte_settings({"HOME=/root"}), "");
}

}  // namespace
}  // namespace clump::mpiexec
