#include "common/launchers.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace clump::tools {
namespace {

TEST(StartFailure, TellsWhatIsAtFault) {
  for (const char* const said : {"/usr/bin/mpiexec: Error: unknown option \"--proxy\"",
                                 "[mpiexec@h1] match_arg: unrecognized argument proxy"}) {
    const StartFailure other = why_not_started("ssh", "localhost", 1, said);
    EXPECT_TRUE(other.is_reached);
    EXPECT_TRUE(other.why.starts_with("the mpiexec there is not Clump's")) << other.why;
  }
  const StartFailure own = why_not_started("ssh", "localhost", 255, "unknown option -- z");
  EXPECT_FALSE(own.is_reached);
  EXPECT_TRUE(own.why.starts_with("ssh does not reach it (exit code 255)")) << own.why;
  EXPECT_TRUE(why_not_started("ssh", "localhost", 127, "").is_reached);
}

TEST(StartFailure, SaysWhatHelpsAgainstErrorsOfSsh) {
  const auto why = [](const char* said) { return why_not_started("ssh", "localhost", 255, said).why; };
  EXPECT_TRUE(why("Host key verification failed.")
                  .ends_with("; 'ssh HOST' by hand asks once whether to "
                             "trust a host"));
  const std::string denied = why("me@localhost: Permission denied (publickey,password).");
  EXPECT_NE(denied.find("; 'ssh HOST true' may not ask for a password: "), denied.npos) << denied;
  for (const char* const said : {"Connection refused", "srun: error: task launch failed: Permission denied"})
    EXPECT_TRUE(why(said).ends_with(said)) << said;
}

TEST(Launcher, SlurmsDoesNotSeeOptionsOfOtherSteps) {
  Launcher launcher;
  ASSERT_TRUE(launcher.find({.name = {"--launcher", "slurm"}, .program = {"--launcher-exec", "true"}}).ok());
  const auto first_words = [&] {
    std::string line;
    for (const std::string& word : launcher.command("a", {})) {
      if (word.starts_with("--")) break;
      line += word + " ";
    }
    return line;
  };
  const std::string usual = first_words();
  EXPECT_TRUE(usual.ends_with("/true ")) << usual;
  ::setenv("SLURM_LABELIO", "1", 1);
  ::setenv("SRUN_CPUS_PER_TASK", "2", 1);
  EXPECT_EQ(first_words(), "/usr/bin/env -u SLURM_LABELIO -u SRUN_CPUS_PER_TASK " + usual);
  ::unsetenv("SLURM_LABELIO");
  ::unsetenv("SRUN_CPUS_PER_TASK");
}

}  // namespace
}  // namespace clump::tools
