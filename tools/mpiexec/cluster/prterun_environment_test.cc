#include "cluster/prterun_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

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
  EXPECT_EQ(prrte_settings({"PRTE_MCA_prte_if_include=eth0", "CLUMP_DAEMON_WAY=here 10.0.0.1"}), "");
  EXPECT_EQ(prrte_settings({"PRTE_MCA_prte_if_include=eth0", "CLUMP_DAEMON_WAY="}),
            "PRTE_MCA_prte_if_include=eth0");
}

TEST(NetworkForPrrte, IsOneName) {
  EXPECT_EQ(network_for_prrte({"eth0"}), "eth0");
  EXPECT_EQ(network_for_prrte({"eth0:1"}), "eth0:1");
  EXPECT_EQ(network_for_prrte({"lo", "eth0", "virbr0"}), "eth0");
  EXPECT_EQ(network_for_prrte({"eth0", "ib0"}), "");
  EXPECT_EQ(network_for_prrte({"lo"}), "");
  EXPECT_EQ(network_for_prrte({}), "");
}

TEST(NetworkForPrrte, IsANameThatPrrteDoesNotReadAsSomethingElse) {
  EXPECT_EQ(network_for_prrte({"6to4"}), "");
  EXPECT_EQ(network_for_prrte({"a,b"}), "");
}

TEST(NetworkForPrrte, IsSetUnlessTheUserHasChosen) {
  for (const char* const chosen :
       {"PRTE_MCA_prte_if_include", "PRTE_MCA_prte_if_exclude", "PRTE_MCA_oob_tcp_if_include",
        "PRTE_MCA_oob_tcp_include", "PRTE_MCA_oob_tcp_if_exclude", "PRTE_MCA_oob_tcp_exclude"})
    ::unsetenv(chosen);
  ::setenv("PRTE_MCA_oob_tcp_if_exclude", "docker0", 1);
  EXPECT_FALSE(limit_network({"eth0"}));
  EXPECT_EQ(std::getenv("PRTE_MCA_prte_if_include"), nullptr);
  ::setenv("PRTE_MCA_oob_tcp_if_exclude", "", 1);  // chooses nothing
  EXPECT_TRUE(limit_network({"lo"}));
  EXPECT_EQ(std::getenv("PRTE_MCA_prte_if_include"), nullptr) << "PRRTE would find none";
  EXPECT_TRUE(limit_network({"eth0"}));
  EXPECT_STREQ(std::getenv("PRTE_MCA_prte_if_include"), "eth0");
  EXPECT_EQ(std::getenv("PRTE_MCA_oob_tcp_if_exclude"), nullptr);
  EXPECT_FALSE(limit_network({"eth1"}));
  EXPECT_STREQ(std::getenv("PRTE_MCA_prte_if_include"), "eth0");
  ::unsetenv("PRTE_MCA_prte_if_include");
}

}  // namespace
}  // namespace clump::mpiexec
