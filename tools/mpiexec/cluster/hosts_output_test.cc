#include "cluster/hosts_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace clump::mpiexec {
namespace {

TEST(HostsOutput, ShowsWholeLinesOfEachHostAndEqualWordsOfProxiesOnce) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  HostsOutput output(2, 0);
  output.add(0, STDOUT_FILENO, "half of ");
  output.add(1, STDOUT_FILENO, "a line of h1\n");
  output.add(0, STDOUT_FILENO, "a line of h0\n");
  for (const std::size_t host : {0, 1}) output.add(host, STDERR_FILENO, "mpiexec: both say so\n");
  output.add(0, STDERR_FILENO, "mpi");
  output.add(0, STDERR_FILENO, "exec: one says so\n");
  output.add(0, STDERR_FILENO, "the same\n");
  output.add(1, STDERR_FILENO, "the same\nmpiexec: no end");
  for (const std::size_t host : {0, 1})
    for (const int target : {STDOUT_FILENO, STDERR_FILENO}) output.end(host, target);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a line of h1\nhalf of a line of h0\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "mpiexec: both say so\nmpiexec: one says so\nthe same\nthe same\nmpiexec: no end");
}

}  // namespace
}  // namespace clump::mpiexec
