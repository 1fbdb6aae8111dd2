#include "common/launchers.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace clump::tools
