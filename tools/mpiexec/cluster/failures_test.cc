#include "cluster/failures.h"

#include <gtest/gtest.h>

namespace clump::mpiexec {
namespace {

using Words = std::vector<std::string>;

TEST(Failures, AreSaidInTheOrderInWhichTheyHappened) {
  Failures failures;
  failures.note(1, 7);
  failures.note(2, 9);
  failures.note(1, 8);
  failures.explain(2, "two");
  EXPECT_EQ(failures.end(2, false), Words());
  EXPECT_EQ(failures.end(0, false), Words());
  failures.note(3, 9);
  failures.explain(3, "two");
  EXPECT_EQ(failures.end(3, false), Words());
  failures.explain(1, "one");
  EXPECT_EQ(failures.end(1, true), Words({"one", "two"}));
  EXPECT_EQ(failures.code(), 7);
}

TEST(Failures, OfAHostThatIsNotReachedComesAfterWhatMayBeItsCause) {
  Failures failures;
  failures.note(3, 16, Failures::Cause::kUnreachable);
  failures.explain(3, "cannot reach 2");
  EXPECT_EQ(failures.end(3, false), Words());
  EXPECT_EQ(failures.code(), 16);
  EXPECT_EQ(failures.code_after_signal(), 0);
  failures.note(2, 137);
  failures.explain(2, "killed");
  EXPECT_EQ(failures.end(2, false), Words({"killed"}));
  EXPECT_EQ(failures.code(), 137);
  EXPECT_EQ(failures.end(0, true), Words({"cannot reach 2"}));
}

TEST(Failures, WithoutACauseIsSaidAtTheEnd) {
  Failures failures;
  failures.note(0, 16, Failures::Cause::kUnreachable);
  failures.note(1, 143, Failures::Cause::kElsewhere);
  failures.explain(0, "cannot reach 1");
  failures.explain(5, "of a host that has not failed");
  EXPECT_EQ(failures.end(0, false), Words());
  EXPECT_EQ(failures.end(1, true), Words({"cannot reach 1"}));
  EXPECT_EQ(failures.code(), 16);
  EXPECT_EQ(failures.code_after_signal(), 143);
  EXPECT_EQ(Failures().code(), 0);
}

}  // namespace
}  // namespace clump::mpiexec
