#include "job/end_order.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace clump::mpiexec {
namespace {

TEST(EndOrder, IsThatOfTheEnds) {
  EndOrder order;
  std::array<pid_t, 3> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child == 0)
      for (;;) ::pause();
    order.add(child);
    EXPECT_TRUE(order.knows(child));
  }
  EXPECT_EQ(order.next(), -1);
  siginfo_t ended;
  for (const int number : {2, 0, 1}) {
    ::kill(children[number], SIGKILL);
    ASSERT_EQ(::waitid(P_PID, children[number], &ended, WEXITED | WNOWAIT), 0);
  }
  for (const int number : {2, 0, 1}) {
    EXPECT_EQ(order.next(), children[number]);
    EXPECT_FALSE(order.knows(children[number]));
  }
  EXPECT_EQ(order.next(), -1);
  for (const pid_t child : children) EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace clump::mpiexec
